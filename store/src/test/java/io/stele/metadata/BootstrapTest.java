package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.files.LocalFilesInProcess;
import io.stele.lock.LockPaths;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import io.stele.wire.MemberKey;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BootstrapTest {
  private static final Path ROOT = new Path("/stele");

  private final FileSystem fs = CrashableFileSystem.create();
  private final MemoryLockService locks = new MemoryLockStore().connect();
  private final Schemas schemas = new Schemas(SystemRuntime.INSTANCE, locks);

  @Test
  void aClusterBeginsOnceHoweverOftenItIsBegun() throws IOException {
    Layout first = begin(locks);
    Layout second = begin(locks);
    assertThat(second).isEqualTo(first);
    assertThat(Bootstrap.join(fs, ROOT, locks)).isEqualTo(first);
    assertThat(records(locks).reader().readRoot().orElseThrow().id()).isEqualTo(TabletId.ROOT);
  }

  @Test
  void theMembersKeyIsDrawnOnce() throws IOException {
    Layout layout = begin(locks);
    MemberKey key = layout.memberKey(fs);
    assertThat(begin(locks).memberKey(fs)).isEqualTo(key);
    assertThat(Bootstrap.join(fs, ROOT, locks).memberKey(fs)).isEqualTo(key);
    assertThat(key.toString()).doesNotContain(key.encode());
    assertThat(MemberKey.draw(SystemRuntime.INSTANCE.random())).isNotEqualTo(key);
    try (FSDataOutputStream out = fs.create(new Path(ROOT, "MEMBERS"))) {
      out.writeBytes("half a ke");
    }
    assertRefused(() -> layout.memberKey(fs), "is damaged");
  }

  @Test
  void theMembersKeyIsItsOwnersAloneToRead(@TempDir java.nio.file.Path directory)
      throws IOException {
    FileSystem local = FileSystem.getLocal(new Configuration(false));
    Path root = new Path(directory.resolve("stele").toUri());
    Layout layout = Layout.openOrCreate(SystemRuntime.INSTANCE, local, root);
    assertThat(layout.memberKey(local)).isEqualTo(layout.memberKey(local));
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(directory.resolve("stele/MEMBERS"))))
        .isEqualTo("rw-------");
  }

  @Test
  void othersReachTablesAndJobsAndNoLogsWhateverTheUmaskIs(@TempDir java.nio.file.Path directory)
      throws IOException {
    Configuration conf = new Configuration(false);
    conf.set("fs.permissions.umask-mode", "077");
    FileSystem local = FileSystem.newInstance(directory.toUri(), conf);
    Layout.openOrCreate(SystemRuntime.INSTANCE, local, new Path(directory.toUri() + "/stele"));
    assertMode(directory, "stele", "rwx--x--x");
    assertMode(directory, "stele/VERSION", "rw-r--r--");
    assertMode(directory, "stele/tables", "rwx--x--x");
    assertMode(directory, "stele/bulk", "rwx--x--x");
    assertMode(directory, "stele/logs", "rwx------");
    assertMode(directory, "stele/recovery", "rwx------");

    Files.setPosixFilePermissions(
        directory.resolve("stele/tables"), PosixFilePermissions.fromString("rwxr-x---"));
    Files.setPosixFilePermissions(
        directory.resolve("stele"), PosixFilePermissions.fromString("rwxr-xr-x"));
    Layout.openOrCreate(SystemRuntime.INSTANCE, local, new Path(directory.toUri() + "/stele"));
    assertMode(directory, "stele", "rwxr-xr-x");
    assertMode(directory, "stele/tables", "rwxr-x---");
  }

  private static void assertMode(java.nio.file.Path directory, String name, String mode)
      throws IOException {
    assertThat(
            PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve(name))))
        .as(name)
        .isEqualTo(mode);
  }

  @Test
  void anyStepMayBeMissing() throws IOException {
    Layout first = Layout.openOrCreate(SystemRuntime.INSTANCE, fs, ROOT);
    assertThat(begin(locks)).isEqualTo(first);
    locks.delete(LockPaths.ROOT, locks.read(LockPaths.ROOT).orElseThrow().version());
    assertThat(begin(locks)).isEqualTo(first);
    assertThat(records(locks).reader().readRoot()).isPresent();
  }

  @Test
  void dataThatTheLockServiceDoesNotKnowIsNotTakenForAnEmptyCluster() throws IOException {
    Layout layout = begin(locks);
    fs.mkdirs(new Path(layout.tables(), "root"));
    assertRefused(() -> begin(new MemoryLockStore().connect()), "ZooKeeper does not know");
  }

  @Test
  void tablesWhoseRootRecordTheLockServiceHasLostAreNotTakenForAnEmptyCluster() throws IOException {
    Layout layout = begin(locks);
    fs.mkdirs(new Path(layout.tables(), "t1"));
    locks.delete(LockPaths.ROOT, locks.read(LockPaths.ROOT).orElseThrow().version());
    assertRefused(() -> begin(locks), "has lost the record of the root tablet");
    assertThat(locks.read(LockPaths.ROOT)).isEmpty();
  }

  @Test
  void aRootDirectoryOfAnotherClusterIsRefused() throws IOException {
    begin(locks);
    Path elsewhere = new Path("/elsewhere");
    Layout.openOrCreate(SystemRuntime.INSTANCE, fs, elsewhere);
    fs.delete(ROOT, true);
    fs.rename(elsewhere, ROOT);
    assertRefused(() -> begin(locks), "belongs to another");
  }

  @Test
  void aVersionFileThatIsGoneIsNotMadeAnewAndTheRefusalSaysTheId() throws IOException {
    Layout layout = begin(locks);
    Path version = new Path(ROOT, "VERSION");
    fs.delete(version, false);
    String lines = "\"layout 1\" and \"cluster " + layout.cluster() + "\"";
    assertRefused(() -> begin(locks), lines);
    assertThat(fs.exists(version)).isFalse();
    // Without the lock service's data the copy knows the id.
    new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks)
        .copyNodes(new LastingNodes(locks));
    assertRefused(() -> begin(new MemoryLockStore().connect()), lines);
    assertThat(fs.exists(version)).isFalse();
    try (FSDataOutputStream out = fs.create(version)) {
      out.writeBytes("layout 1\ncluster " + layout.cluster() + "\n");
    }
    assertThat(begin(locks)).isEqualTo(layout);
  }

  @Test
  void dataWhoseVersionFileAndIdAreGoneAreLeftAsTheyAre() throws IOException {
    fs.mkdirs(new Path(ROOT, "tables/t1"));
    assertRefused(() -> begin(locks), "is gone, but there are data beside it");
    assertThat(fs.listStatus(ROOT)).hasSize(1);
    assertThat(locks.read(LockPaths.REGISTRATION)).isEmpty();
  }

  @Test
  void nothingIsMadeInADirectoryThatIsNotTheClustersOwn() throws IOException {
    begin(locks);
    Path mistyped = new Path("/stelle");
    assertRefused(
        () -> Bootstrap.begin(SystemRuntime.INSTANCE, fs, mistyped, locks, records(locks)),
        "correct stele.root.dir");
    assertThat(fs.exists(mistyped)).isFalse();
  }

  @Test
  void aRootDirectoryOfTwoMastersHasOneVersionFileAlsoLocally(@TempDir java.nio.file.Path directory)
      throws IOException {
    Path root = new Path(directory.toUri().getPath(), "stele");
    Layout first = Layout.openOrCreate(SystemRuntime.INSTANCE, LocalFilesInProcess.raw(), root);
    // As another has it that looked for the file just before.
    RawLocalFileSystem late =
        new RawLocalFileSystem() {
          private boolean looked;

          @Override
          public boolean exists(Path path) throws IOException {
            boolean before = !looked && path.getName().equals("VERSION");
            looked |= before;
            return !before && super.exists(path);
          }
        };
    late.initialize(URI.create("file:///"), new Configuration(false));
    assertThat(Layout.openOrCreate(SystemRuntime.INSTANCE, late, root)).isEqualTo(first);
  }

  @Test
  void aCounterOfTablesWithoutANumberIsNamed() {
    assertThatThrownBy(() -> TableIds.number(Bytes.of("7")))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(LockPaths.TABLE_IDS);
  }

  @Test
  void aNewerLayoutIsRefusedAndLeftAsItIs() throws IOException {
    try (FSDataOutputStream out = fs.create(new Path(ROOT, "VERSION"))) {
      out.writeBytes("layout 2\ncluster x\n");
    }
    assertRefused(() -> begin(locks), "layout version 2");
    assertThat(fs.listStatus(ROOT)).hasSize(1);
    assertThat(locks.read(LockPaths.REGISTRATION)).isEmpty();
  }

  @Test
  void schemasComeBackAsTheyWereWritten() throws IOException {
    TableSchema schema =
        TableSchema.of("web", "a")
            .withReaders("user:alice", "group:analysts")
            .with(
                new LocalityGroup(
                    "pages", Codec.GZIP, 1 << 20, Bloom.ROW_COLUMN, true, CachePriority.HIGH))
            .with(ColumnFamily.of("d").in("pages"))
            .with(
                new ColumnFamily(
                    "b",
                    new GcPolicy.Union(
                        List.of(
                            GcPolicy.maxVersions(3),
                            GcPolicy.maxAge(Duration.ofNanos(1_500_000))))))
            .with(
                new ColumnFamily(
                    "c",
                    new GcPolicy.Intersection(
                        List.of(new GcPolicy.KeepAll(), GcPolicy.maxVersions(2)))))
            .withHsync(true);
    assertThat(TableCodec.decode(TableCodec.encode(schema))).isEqualTo(schema);
    TableId id = schemas.nextId();
    schemas.create(id, schema, List.of(Bytes.of("m")));
    StoredTable table = schemas.table(id).orElseThrow();
    assertThat(table.schema()).isEqualTo(schema);
    assertThat(table.splitRows()).containsExactly(Bytes.of("m"));
    schemas.create(id, schema, List.of());
    assertThat(schemas.table(id)).as("it was there").contains(table);
    assertThat(schemas.byName("web")).isEmpty();
    TableName name = schemas.names().read("web");
    assertThat(schemas.names().write(name, name.of(Optional.of(id)))).isTrue();
    StoredTable ready = schemas.advance(table, StoredTable.State.READY);
    assertThat(schemas.byName("web")).contains(ready);
    assertThatThrownBy(() -> schemas.advance(table, StoredTable.State.DROPPING))
        .isInstanceOf(SteleException.class);
    StoredTable without = schemas.alter(ready, schema.without("b"));
    assertThat(without.dropped().names()).containsExactly("b");
    assertThat(schemas.byName("web")).contains(without);
    StoredTable again = schemas.alter(without, schema);
    assertThat(again.dropped().names()).isEmpty();
    assertThat(schemas.byName("web")).contains(again);
    assertThat(schemas.nextId()).isNotEqualTo(id);
    assertThat(schemas.delete(ready)).as("changed since").isFalse();
    assertThat(schemas.delete(again)).isTrue();
    assertThat(schemas.delete(again)).isTrue();
  }

  private Layout begin(MemoryLockService session) throws IOException {
    return Bootstrap.begin(SystemRuntime.INSTANCE, fs, ROOT, session, records(session));
  }

  private static TabletRecords records(MemoryLockService session) {
    return new TabletRecords(
        SystemRuntime.INSTANCE,
        new RootRecordRows(SystemRuntime.INSTANCE, session, Duration.ofSeconds(60)),
        new MemoryRows(),
        new MemoryRows());
  }

  private static void assertRefused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String why) {
    assertThatThrownBy(call)
        .hasMessageContaining(why)
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
  }
}
