package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.Attempts.Interlude;
import io.stele.mapreduce.ModelTable.Content;
import io.stele.mapreduce.Reshaping.Kind;
import io.stele.mapreduce.jobs.CopyTable;
import io.stele.mapreduce.jobs.TableInput;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Copies of a table that is written, and whose tablets are split, merged, moved and compacted, all
 * the time; so are the tablets of the copy. The first attempt of every task stops in the middle,
 * and in the meantime tablets are split, merged and moved. Over HDFS and ZooKeeper in this JVM,
 * with three tablet servers.
 */
@Timeout(300)
class CopiesOfChangingTablesIT {
  private static final String SOURCE = "source";

  /**
   * The source has some 200 KB, at times half of that, in two tablets or more: each is cut, though
   * what tablets report of their sizes comes late.
   */
  private static final long SPLIT_BYTES = 25 << 10;

  private static final int BLOCK_BYTES = 4 << 10; // Splits are cut between blocks.
  private static final Bytes OLD = Bytes.of("old");
  private static final int RECORDS_BEFORE_THE_END = 5;
  private static final int CHANGES_OF_A_ROUND = 200;

  /** Between whose two attempts, for certain, everything happens to the source: that takes long. */
  private static final int DISTURBED_TASKS = 2;

  /** No tablet is merged that a job reads: its read point holds for its own rows. */
  private static final EnumSet<Kind> OF_THE_SOURCE = EnumSet.complementOf(EnumSet.of(Kind.MERGE));

  private static final EnumSet<Kind> OF_THE_COPY = EnumSet.of(Kind.SPLIT, Kind.MERGE, Kind.MOVE);

  @TempDir private static Path scratch;
  private static HdfsCluster hdfs;
  private static Stele client;
  private static ModelTable model;
  private static Reshaping reshaping;
  private static ExecutorService threads;
  private static Future<?> writing;
  private static final AtomicBoolean OVER = new AtomicBoolean();

  /** How a job writes. */
  enum Output {
    LIVE,
    BULK,
    REPLACING
  }

  /** Writes rows of its own to a copy, one after the other. For one thread at a time. */
  private static final class Others {
    private static final int ROWS_AROUND = 10;
    private final Table table;
    private int written; // Acknowledged rows.
    private int before; // Rows written when the job began to commit.
    private int after; // Rows written, or begun, when it had committed.

    Others(Table table) {
      this.table = table;
    }

    private static Bytes row(int number) {
      return Bytes.of(String.format("other%06d", number));
    }

    void write() throws IOException {
      for (int i = 0; i < ROWS_AROUND; i++) {
        table.mutate(Mutation.of(row(written)).put("f", "q", "other"));
        written++;
      }
    }

    /** Lets a job commit while rows are written, and some before and after that. */
    void during(Interlude commit) throws Exception {
      write();
      before = written;
      AtomicBoolean committed = new AtomicBoolean();
      Future<?> writing =
          threads.submit(
              () -> {
                while (!committed.get()) {
                  write();
                }
                return null;
              });
      try {
        commit.run();
      } finally {
        committed.set(true);
        writing.get();
      }
      after = written;
      write();
    }

    /** Takes the rows out of what the copy has, and checks that those are there that must be. */
    void check(Content found, boolean replaced) {
      for (int i = 0; i < written; i++) {
        boolean there = found.remove(row(i)) != null;
        if (i < before || i >= after) {
          assertThat(there).as("row %s", row(i)).isEqualTo(i >= after || !replaced);
        }
      }
    }
  }

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    hdfs.stele().startServer();
    client = hdfs.stele().client();
    create(SOURCE);
    model = new ModelTable(client.table(SOURCE), 1);
    model.fill();
    reshaping = new Reshaping(client, SOURCE, 2);
    threads = Executors.newCachedThreadPool();
    writing =
        threads.submit(
            () -> {
              while (!OVER.get()) {
                for (int i = 0; i < CHANGES_OF_A_ROUND; i++) {
                  model.change();
                }
                model.deleteRows(client.admin());
                reshaping.await(EnumSet.of(Kind.MOVE));
              }
              return null;
            });
  }

  @AfterAll
  static void stop() throws Exception {
    OVER.set(true);
    try {
      writing.get(); // While tablets move: it waits for that.
      reshaping.close();
      System.out.println("the source: " + reshaping.counts());
      assertThat(reshaping.counts().values()).as("%s", reshaping.counts()).doesNotContain(0);
    } finally {
      threads.shutdown();
      hdfs.close();
    }
  }

  private static void create(String table) throws IOException {
    TableSchema schema =
        TableSchema.of(
            table,
            List.of(
                new ColumnFamily("f", GcPolicy.keepAll()),
                new ColumnFamily("g", GcPolicy.keepAll()).in("other")),
            LocalityGroup.of("other").withBlockBytes(BLOCK_BYTES));
    int rows = ModelTable.ROWS;
    client
        .admin()
        .createTable(
            schema.withBlockBytes(BLOCK_BYTES),
            List.of(ModelTable.row(rows / 3), ModelTable.row(rows * 2 / 3)));
  }

  private static Job copy(String mode, Output output, String target) throws IOException {
    Configuration conf = new Configuration(hdfs.conf());
    conf.set(TableInputFormat.MODE_KEY, mode);
    conf.setLong(TableInputFormat.SPLIT_BYTES_KEY, SPLIT_BYTES);
    Job job = new CopyTable(TableInput.all(SOURCE), target, false).prepare(conf);
    if (output != Output.LIVE) { // Mappers get their rows in order: they need no reducers.
      BulkOutputFormat.addTable(job, target, ModelTable.FAMILIES);
    }
    if (output == Output.REPLACING) {
      BulkOutputFormat.replaceTable(job, target);
    }
    return job;
  }

  @ParameterizedTest
  @CsvSource({
    "served, LIVE",
    "direct, LIVE",
    "served, BULK",
    "direct, BULK",
    "served, REPLACING",
    "direct, REPLACING"
  })
  void aCopyIsWhatThePinSawCellByCellWhateverHappensAndWhicheverAttemptsDie(
      String mode, Output output) throws Exception {
    String target = mode + "-" + output.name().toLowerCase(Locale.ROOT);
    create(target);
    Table copied = client.table(target);
    copied.mutate(Mutation.of(OLD).put("f", Bytes.of("old"), 7, OLD));
    reshaping.await(EnumSet.of(Kind.MERGE)); // No pin of a job before is left.
    Attempts<Bytes, Row> attempts = new Attempts<>(copy(mode, output, target));
    attempts.checkOutput();
    List<InputSplit> splits = new ArrayList<>();
    Content expected = model.during(() -> splits.addAll(attempts.begin()));
    assertThat(splits).hasSizeGreaterThan(2);
    if (output != Output.REPLACING) {
      expected.put(OLD, "f:old", 7, OLD);
    }
    Others others = new Others(copied);
    try (Reshaping reshapingToo = new Reshaping(client, target, 3)) {
      for (int task = 0; task < splits.size(); task++) {
        others.write();
        Optional<Bytes> deleted = run(attempts, task, reshapingToo, copied);
        if (output == Output.LIVE) { // Files come with the commit, after that.
          deleted.ifPresent(expected::remove);
        }
      }
      others.during(attempts::commit);
      System.out.println("the copy " + target + ": " + reshapingToo.counts());
    }
    if (writing.isDone()) {
      writing.get(); // It failed.
    }
    Content found = ModelTable.read(copied);
    others.check(found, output == Output.REPLACING);
    assertSame(found, expected);
    assertThat(expected).isNotEqualTo(model.during(() -> {}));
    Content[] source = new Content[1];
    Content now = model.during(() -> source[0] = ModelTable.read(client.table(SOURCE)));
    assertSame(source[0], now);
    assertThat(hdfs.stele().aborts()).isEmpty();
  }

  /**
   * Runs a task whose first attempt stops in the middle. Of every second task that attempt is not
   * dead: when the second has ended, it goes on to its end.
   *
   * @return a row of the copy that was deleted before that
   */
  private static Optional<Bytes> run(
      Attempts<Bytes, Row> attempts, int task, Reshaping reshapingToo, Table copied)
      throws Exception {
    Attempts<Bytes, Row>.Attempt first = attempts.attempt(task, 0);
    boolean stopped = first.stopAfter(RECORDS_BEFORE_THE_END);
    assertThat(stopped || task > 0).as("the first split has so many rows").isTrue();
    if (task < DISTURBED_TASKS) {
      reshaping.await(OF_THE_SOURCE);
    }
    reshapingToo.await(OF_THE_COPY);
    boolean dead = task % 2 == 0 || !stopped;
    if (dead) {
      first.abort();
    }
    Attempts<Bytes, Row>.Attempt second = attempts.attempt(task, 1);
    if (task == 0) {
      second.interrupt(RECORDS_BEFORE_THE_END, () -> reshaping.await(OF_THE_SOURCE));
    }
    second.run();
    second.close();
    second.commit();
    if (dead) {
      return Optional.empty();
    }
    copied.mutate(Mutation.of(second.last()).deleteRow());
    first.run();
    first.abort();
    return Optional.of(second.last());
  }

  private static void assertSame(Content found, Content expected) {
    assertThat(found.keySet()).isEqualTo(expected.keySet());
    expected.forEach((row, cells) -> assertThat(found.get(row)).as("row %s", row).isEqualTo(cells));
  }
}
