package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.documents.MapReduceBlock;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.sim.MiniStele;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store that one user runs and jobs that others run, over an HDFS that checks permissions, where
 * new files are their owner's alone. Nobody grants a right by hand.
 */
class FilesOfUsersIT {
  private static final int ROWS = 300;
  private static final String JOB_KEY = "mapreduce.stele.output.bulk.job";

  private static final UserGroupInformation STORE = user("store", "storage");
  private static final UserGroupInformation ALICE = user("alice", "people");
  private static final UserGroupInformation BOB = user("bob", "people");
  private static final UserGroupInformation CAROL = user("carol", "analysts");

  @TempDir private static java.nio.file.Path scratch;
  private static HdfsCluster hdfs;
  private static Stele client;

  private static UserGroupInformation user(String name, String group) {
    return UserGroupInformation.createUserForTesting(name, new String[] {group});
  }

  @BeforeAll
  static void start() throws Exception {
    Configuration hadoop = new Configuration();
    hadoop.set("fs.permissions.umask-mode", "077");
    hadoop.set("mapreduce.jobtracker.staging.root.dir", "/staging");
    hdfs = new HdfsCluster(scratch.toFile(), hadoop, STORE);
    hdfs.conf().set(BulkOutputFormat.LEASE_KEY, "20s"); // It is forgotten soon after its commit.
    hdfs.fs().mkdirs(new Path("/staging"));
    hdfs.fs().setPermission(new Path("/staging"), new FsPermission((short) 01777));
    client = hdfs.stele().client();
    fill(TableSchema.of("numbers", "f"));
  }

  @AfterAll
  static void stop() throws Exception {
    hdfs.close();
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%04d", number));
  }

  private static void fill(TableSchema schema) throws IOException {
    client.admin().createTable(schema, List.of(row(ROWS / 2)));
    write(schema.name());
  }

  private static void write(String table) throws IOException {
    try (BatchWriter writer = client.table(table).batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        writer.add(Mutation.of(row(i)).put("f", "n", Integer.toString(i)));
      }
    }
  }

  private static <T> T as(UserGroupInformation user, PrivilegedExceptionAction<T> action)
      throws Exception {
    return user.doAs(action);
  }

  /** How many rows a job of a user reads from a table's files. */
  private static long readDirectly(UserGroupInformation user, String table) throws Exception {
    return as(
        user,
        () -> {
          Job job = SteleJob.create(hdfs.conf(), "read " + table);
          job.getConfiguration().set(TableInputFormat.MODE_KEY, "direct");
          TableInputFormat.addTable(job, table, RowQuery.ALL);
          job.setNumReduceTasks(0);
          job.setMapperClass(Mapper.class);
          job.setOutputFormatClass(NullOutputFormat.class);
          assertThat(job.waitForCompletion(true)).isTrue();
          return job.getCounters().findCounter(TableInputFormat.Counter.ROWS).getValue();
        });
  }

  private static void assertRefused(UserGroupInformation user, String table) throws IOException {
    long before = files(table);
    String documented =
        MapReduceBlock.READER_COMMAND
            .text()
            .replace("webtable", table)
            .replace("analyst", user.getShortUserName());
    assertThatThrownBy(() -> readDirectly(user, table))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining(
            "a job of user " + user.getShortUserName() + " cannot read table " + table)
        .hasMessageContaining("`" + documented + "`");
    assertThat(files(table)).as("no memtable was written to pin it").isEqualTo(before);
  }

  private static long files(String table) throws IOException {
    return client.table(table).tablets().stream().mapToLong(TabletInfo::sstables).sum();
  }

  private static void alterReaders(String table, String... readers) throws IOException {
    client.admin().alterTable(table, schema -> schema.withReaders(readers));
  }

  private static Path directory(String table) throws IOException {
    return new Path("/stele/tables/" + client.table(table).id().value());
  }

  @Test
  void readersOfATableReadItsFilesAndOthersAreRefusedAtSubmission() throws Exception {
    fill(TableSchema.of("shared", "f").withReaders("user:alice", "group:analysts"));
    assertRefused(BOB, "shared");
    assertThat(readDirectly(ALICE, "shared")).isEqualTo(ROWS);
    assertThat(readDirectly(CAROL, "shared")).isEqualTo(ROWS);
    client.admin().compactTable("shared");
    assertThat(readDirectly(ALICE, "shared")).as("new files, made by a server").isEqualTo(ROWS);
    write("shared");
    assertRefused(BOB, "shared");
  }

  @Test
  void anAlterationChangesWhoReadsTheFilesThatAreThere() throws Exception {
    fill(TableSchema.of("altered", "f").withReaders("user:alice"));
    client.admin().compactTable("altered");
    assertThat(readDirectly(ALICE, "altered")).isEqualTo(ROWS);
    alterReaders("altered", "user:alice", "user:bob");
    assertThat(readDirectly(BOB, "altered")).isEqualTo(ROWS);
    alterReaders("altered", "user:bob");
    assertRefused(ALICE, "altered");
    assertThat(readDirectly(BOB, "altered")).isEqualTo(ROWS);
  }

  @Test
  void aTableWithoutReadersHasTheUsualPermissions() throws Exception {
    fill(TableSchema.of("usual", "f"));
    client.admin().compactTable("usual");
    FileStatus directory = hdfs.fs().getFileStatus(directory("usual"));
    assertThat(directory.hasAcl()).isFalse();
    assertThat(directory.getPermission()).hasToString("rwx------");
    assertRefused(ALICE, "usual");
    alterReaders("usual", "user:alice");
    assertThat(readDirectly(ALICE, "usual")).isEqualTo(ROWS);
    alterReaders("usual");
    assertRefused(ALICE, "usual");
    FileStatus after = hdfs.fs().getFileStatus(directory("usual"));
    assertThat(after.hasAcl()).isFalse();
    assertThat(after.getPermission()).isEqualTo(directory.getPermission());
  }

  /** Writes each row as it is. */
  static final class CopyMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      context.write(
          key, Mutation.of(key).put("f", Bytes.of("n"), row.value("f", "n").orElseThrow()));
    }
  }

  /** A job of a user that has written files for a table, and has committed. */
  private static Job written(UserGroupInformation user, String table) throws Exception {
    return as(
        user,
        () -> {
          Job job = SteleJob.create(hdfs.conf(), "write " + table, FilesOfUsersIT.class);
          TableInputFormat.addTable(job, "numbers", RowQuery.ALL);
          job.setMapperClass(CopyMapper.class);
          BulkOutputFormat.addTable(job, table, "f");
          BulkOutputFormat.reduceByTablet(job, table, 2);
          assertThat(job.waitForCompletion(true)).isTrue();
          return job;
        });
  }

  private static long rows(String table) throws IOException {
    try (Rows rows = client.table(table).readRows(RowQuery.ALL)) {
      return rows.stream().count();
    }
  }

  private static Path bulk(Job job) {
    return new Path("/stele/bulk/" + job.getConfiguration().get(JOB_KEY));
  }

  private static List<Path> sstables(Path directory) throws IOException {
    if (!hdfs.fs().exists(directory)) {
      return List.of();
    }
    return Stream.of(hdfs.fs().listStatus(directory))
        .map(FileStatus::getPath)
        .filter(path -> path.getName().endsWith(".sst"))
        .toList();
  }

  @Test
  void filesOfAJobAreTheTablesOnceItHasCommittedAndTheStoreSweepsThem() throws Exception {
    TableSchema schema = TableSchema.of("bulk", "f").withReaders("user:alice", "group:analysts");
    client.admin().createTable(schema, List.of(row(ROWS / 2)));
    Job job = written(ALICE, "bulk");
    assertThat(rows("bulk")).isEqualTo(ROWS);
    Path bulk = bulk(job);
    List<Path> files = sstables(bulk);
    assertThat(files).hasSize(2);
    assertThat(hdfs.fs().getFileStatus(bulk).getOwner()).isEqualTo("store");
    assertThat(hdfs.fs().getFileStatus(files.get(0)).getOwner()).isEqualTo("alice");
    FileSystem ofAlice = as(ALICE, () -> FileSystem.newInstance(hdfs.conf()));
    assertForbidden(() -> ofAlice.delete(files.get(0), false));
    assertForbidden(() -> ofAlice.rename(files.get(0), new Path(bulk, "mine")));
    assertForbidden(() -> ofAlice.create(new Path(bulk, "more")).close());
    assertForbidden(() -> ofAlice.delete(bulk, true));

    commitAgain(job); // As a second ApplicationMaster does.
    assertThat(readDirectly(CAROL, "bulk")).as("files that alice has written").isEqualTo(ROWS);
    assertRefused(BOB, "bulk");
    assertThat(sstables(bulk)).as("what was read").isEqualTo(files);

    client.admin().compactTable("bulk");
    MiniStele.await("the store has swept " + bulk, () -> !hdfs.fs().exists(bulk));
    assertThat(readDirectly(CAROL, "bulk")).isEqualTo(ROWS);
  }

  private static void assertForbidden(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(AccessControlException.class);
  }

  private static void commitAgain(Job job) throws Exception {
    JobID id = job.getJobID();
    TaskAttemptID attempt =
        new TaskAttemptID(id.getJtIdentifier(), id.getId(), TaskType.REDUCE, 0, 1);
    as(
        ALICE,
        () -> {
          var context = new JobContextImpl(job.getConfiguration(), id);
          var task = new TaskAttemptContextImpl(job.getConfiguration(), attempt);
          var committer = new BulkOutputFormat<Bytes>().getOutputCommitter(task);
          committer.setupJob(context);
          committer.abortTask(task); // Of an attempt that has written nothing.
          committer.commitJob(context);
          return committer;
        });
  }

  @Test
  void aJobWritesFilesForATableWithoutReaders() throws Exception {
    client.admin().createTable(TableSchema.of("plain", "f"), List.of(row(ROWS / 2)));
    Path bulk = bulk(written(ALICE, "plain"));
    assertThat(rows("plain")).isEqualTo(ROWS);
    FileSystem ofBob = as(BOB, () -> FileSystem.newInstance(hdfs.conf()));
    assertForbidden(() -> ofBob.listStatus(bulk));
    client.admin().compactTable("plain");
    MiniStele.await("the store has swept " + bulk, () -> sstables(bulk).isEmpty());
    assertThat(rows("plain")).isEqualTo(ROWS);
  }

  @Test
  void whatAJobThatFailedHasWrittenIsSwept() throws Exception {
    client.admin().createTable(TableSchema.of("failed", "f"), List.of());
    Job job =
        as(
            ALICE,
            () -> {
              Job failing = SteleJob.create(hdfs.conf(), "fail", FilesOfUsersIT.class);
              TableInputFormat.addTable(failing, "numbers", RowQuery.ALL);
              failing.setMapperClass(CopyMapper.class);
              failing.setReducerClass(FailingReducer.class);
              BulkOutputFormat.addTable(failing, "failed", "f");
              BulkOutputFormat.reduceByTablet(failing, "failed", 1);
              assertThat(failing.waitForCompletion(true)).isFalse();
              return failing;
            });
    MiniStele.await("the store has swept it", () -> !hdfs.fs().exists(bulk(job)));
    assertThat(rows("failed")).isZero();
  }

  /** Writes some rows and fails. */
  static final class FailingReducer
      extends org.apache.hadoop.mapreduce.Reducer<Bytes, Mutation, Bytes, Mutation> {
    private int rows;

    @Override
    protected void reduce(Bytes key, Iterable<Mutation> values, Context context)
        throws IOException, InterruptedException {
      context.write(key, values.iterator().next());
      if (++rows > ROWS / 2) {
        throw new IOException("as the test wants it");
      }
    }
  }
}
