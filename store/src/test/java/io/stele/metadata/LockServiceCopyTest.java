package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LockServiceCopyTest {
  /**
   * Which of all paths are not copied with the others: those of processes, the root's record, which
   * has a copy of its own, and what a master lists again.
   */
  private static final List<String> LEFT_OUT =
      List.of(
          LockPaths.ROOT,
          LockPaths.MASTER,
          LockPaths.SERVERS,
          LockPaths.SUSPECTS,
          LockPaths.APPLICATION,
          LockPaths.CLEARINGS);

  private static final Path ROOT = new Path("/stele");
  private static final ServerId SERVER = new ServerId("host", 1, 7);
  private static final ServerId OTHER = new ServerId("host", 2, 8);

  private final FileSystem fs = CrashableFileSystem.create();
  private final MemoryLockStore store = new MemoryLockStore();
  private final MemoryLockService locks = store.connect(Runnable::run);
  private final MemoryLockService lost = new MemoryLockStore().connect(Runnable::run);
  private final TabletRecords records =
      new TabletRecords(
          SystemRuntime.INSTANCE,
          new RootRecordRows(SystemRuntime.INSTANCE, locks, Duration.ofSeconds(60)),
          new MemoryRows(),
          new MemoryRows());
  private final LastingNodes nodes = new LastingNodes(locks);
  private Layout layout;
  private LockServiceCopy copy;

  @BeforeEach
  void begin() throws IOException {
    layout = Bootstrap.begin(SystemRuntime.INSTANCE, fs, ROOT, locks, records);
    copy = new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks);
  }

  private boolean copyNodes() throws IOException {
    nodes.readAll();
    return copy.copyNodes(nodes);
  }

  @Test
  void theTwoNewestFilesOfEachKindStay() throws IOException {
    TabletRecord root = assigned(SERVER);
    for (int i = 0; i < 4; i++) {
      copy.copyRoot(root);
      locks.create(LockPaths.TABLES + "/t" + i, Bytes.of("schema " + i));
      assertThat(copyNodes()).isTrue();
      assertThat(copyNodes()).as("nothing has changed").isFalse();
    }
    assertThat(files()).containsExactly("nodes-3", "nodes-4", "root-1-3", "root-1-4");
    new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks).copyNodes(nodes);
    assertThat(files()).contains("nodes-5");
  }

  @Test
  void aRecordOlderThanTheTabletIsRefused() throws IOException {
    TabletRecord first = assigned(SERVER);
    copy.copyRoot(first);
    TabletRecord second = records.reassign(first, OTHER);
    copy.copyRoot(second);
    assertRefused(() -> copy.markRoot(1), "put back to an earlier state");
    assertThatThrownBy(() -> copy.copyRoot(first)).hasMessageContaining("an earlier state");
    assertRefused(() -> copy.requireNewest(first), "of epoch 1, but");
    copy.requireNewest(second);
    assertThat(files()).containsExactly("root-1-1", "root-2-1");
  }

  @Test
  void allNodesThatStayComeBack() throws IOException {
    copy.copyRoot(records.loaded(assigned(SERVER)));
    table("web", "t1", 5);
    locks.create(LockPaths.FORGOTTEN_CHANGES, Bytes.of("7 x"));
    locks.create(LockPaths.job("j"), Bytes.of("lease"));
    locks.create(LockPaths.APPLICATION, Bytes.of("not to be restored"));
    copyNodes();
    LockServiceRestore restore = restoring();
    assertThat(restore.tables()).isEqualTo(1);
    restore.restore();
    for (String path :
        List.of(
            LockPaths.REGISTRATION, LockPaths.ROOT, LockPaths.TABLES + "/t1", LockPaths.job("j"))) {
      assertThat(lost.read(path).orElseThrow().data())
          .as(path)
          .isEqualTo(locks.read(path).orElseThrow().data());
    }
    // Numbers that may have been given out since are not given out again.
    TableName name = new TableNames(SystemRuntime.INSTANCE, lost).read("web");
    assertThat(name.table()).contains(new TableId("t1"));
    assertThat(name.sequence()).isEqualTo(10_005);
    assertThat(name.forgotten()).isEqualTo(10_005);
    assertThat(new TableNames(SystemRuntime.INSTANCE, lost).read("new").sequence())
        .isEqualTo(10_007);
    assertThat(lost.read(LockPaths.TABLES + "/t1").orElseThrow().version())
        .isEqualTo(locks.read(LockPaths.TABLES + "/t1").orElseThrow().version() + 16);
    assertThat(lost.read(LockPaths.APPLICATION)).isEmpty();
    assertRefused(restore::restore, "nothing needs to be restored");
  }

  @Test
  void aServerThatMayHaveLoadedTheTabletCountsAsHavingLoadedIt() throws IOException {
    copy.copyRoot(assigned(SERVER)); // As it is before the tablet is served.
    copyNodes();
    fs.mkdirs(layout.logs(SERVER));
    TabletRecord root = restored();
    assertThat(root.assignment().state()).isEqualTo(Assignment.State.LOADED);
    assertThat(root.assignment().epoch()).isEqualTo(1);
    assertThat(root.logs()).containsExactly(SERVER);
  }

  @Test
  void aServerWhoseLogNobodyNeededDidNotLoadTheTablet() throws IOException {
    copy.copyRoot(assigned(SERVER));
    copyNodes();
    assertThat(restored().assignment().state()).isEqualTo(Assignment.State.ASSIGNED);
  }

  private TabletRecord restored() throws IOException {
    restoring().restore();
    return new TabletRecords(
            SystemRuntime.INSTANCE,
            new RootRecordRows(SystemRuntime.INSTANCE, lost, Duration.ofSeconds(60)),
            new MemoryRows(),
            new MemoryRows())
        .reader()
        .readRoot()
        .orElseThrow();
  }

  @Test
  void aRestoreThatStoppedHalfwayIsMadeAgain() throws IOException {
    copy.copyRoot(assigned(SERVER));
    table("web", "t1", 5);
    copyNodes();
    lost.create(LockPaths.REGISTRATION, locks.read(LockPaths.REGISTRATION).orElseThrow().data());
    lost.create(LockPaths.TABLES + "/t1", Bytes.of("schema"));
    restoring().restore();
    assertThat(lost.read(LockPaths.ROOT)).isPresent();
    assertThat(lost.read(LockPaths.tableName("web"))).isPresent();
  }

  @Test
  void nodesOfAnotherClusterAreNotMixedWithOurs() throws IOException {
    copy.copyRoot(assigned(SERVER));
    copyNodes();
    lost.create(LockPaths.TABLES + "/t1", Bytes.of("another"));
    assertRefused(() -> restoring().restore(), "of another cluster");
    assertThat(lost.read(LockPaths.ROOT)).isEmpty();
  }

  @Test
  void aLockServiceWithSmallerNumbersThanItHadIsRefused() throws IOException {
    TabletRecord root = assigned(SERVER);
    copy.copyRoot(root);
    TableIds ids = new TableIds(SystemRuntime.INSTANCE, locks);
    ids.next();
    copyNodes();
    copy.requireNewest(root);
    ids.next();
    copy.requireNewest(root);
    locks.delete(LockPaths.TABLE_IDS, locks.read(LockPaths.TABLE_IDS).orElseThrow().version());
    assertRefused(() -> copy.requireNewest(root), "table-ids");
  }

  @Test
  void aMasterThatFindsFewerChangesOfATableDoesNotReplaceTheCopy() throws IOException {
    table("web", "t1", 5);
    copyNodes();
    String path = LockPaths.tableName("web");
    locks.delete(path, locks.read(path).orElseThrow().version());
    table("web", "t1", 4);
    LastingNodes seen = new LastingNodes(locks);
    seen.readAll();
    LockServiceCopy ofAnother = new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks);
    assertRefused(() -> ofAnother.copyNodes(seen), "table web has had 4 changes, but had 5");
    assertThat(files()).containsExactly("nodes-1");
  }

  @Test
  void theSchemaOfATableWhoseNodeIsLostOrDamagedStaysInTheCopy() throws IOException {
    copy.copyRoot(assigned(SERVER));
    String path = LockPaths.TABLES + "/t1";
    Bytes schema = TableCodec.encode(TableSchema.of("web", "contents"));
    locks.create(path, schema);
    table("web", "t1", 5);
    copyNodes();
    locks.delete(path, 0);
    for (int i = 0; i < 3; i++) {
      locks.create(LockPaths.job("j" + i), Bytes.of("lease")); // So that it copies again.
      copyNodes();
      copy = new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks); // Another master.
    }
    assertThat(copy.contents().nodes().get(path).data()).isEqualTo(schema);
    locks.create(path, Bytes.of("damaged"));
    copyNodes();
    assertThat(copy.contents().nodes().get(path).data()).isEqualTo(schema);
    restoring().restore();
    assertThat(lost.read(path).orElseThrow().data()).isEqualTo(schema);
  }

  @Test
  void aNodeOfALaterVersionIsCopiedAsItIs() throws IOException {
    String path = LockPaths.TABLES + "/t1";
    Bytes schema = TableCodec.encode(TableSchema.of("web", "contents"));
    locks.create(path, schema);
    table("web", "t1", 5);
    table("next", "t2", 3);
    copyNodes();
    Bytes later = LaterNodes.tableInLaterState(schema);
    locks.delete(path, 0);
    locks.create(path, later); // At the same version of the node.
    Bytes laterName = LaterNodes.nameInLaterFormat();
    String name = LockPaths.tableName("next");
    locks.write(name, laterName, locks.read(name).orElseThrow().version());
    copyNodes();
    assertThat(copy.contents().nodes().get(path).data()).isEqualTo(later);
    assertThat(copy.contents().nodes().get(name).data()).isEqualTo(laterName);
    nodes.readName("next");
    locks.create(LockPaths.job("j"), Bytes.of("lease")); // So that it copies again.
    copy = new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks); // Another master.
    copyNodes();
    assertThat(copy.contents().nodes().get(path).data()).isEqualTo(later);
    assertThat(copy.contents().nodes().get(name).data()).isEqualTo(laterName);
  }

  @Test
  void aNodeWithWhatIsNoIdOfATableIsCopiedAsItIs() throws IOException {
    table("web", "t1", 5);
    String name = LockPaths.tableName("web");
    VersionedData before = locks.read(name).orElseThrow();
    Bytes later = LaterNodes.nameOf(before.data(), "view of t1");
    locks.write(name, later, before.version());
    locks.create(LockPaths.TABLES + "/by-owner", Bytes.of("alice t1"));
    for (int i = 0; i < 2; i++) {
      locks.create(LockPaths.job("j" + i), Bytes.of("lease")); // So that it copies again.
      nodes.readName("web");
      copyNodes();
      assertThat(copy.contents().nodes().get(name).data()).isEqualTo(later);
      assertThat(copy.contents().nodes()).containsKey(LockPaths.TABLES + "/by-owner");
    }
  }

  @Test
  void aLostTableStaysInTheCopyThoughALaterVersionWroteTheNewest() throws IOException {
    copy.copyRoot(assigned(SERVER));
    String path = LockPaths.TABLES + "/t1";
    Bytes schema = TableCodec.encode(TableSchema.of("web", "contents"));
    locks.create(path, schema);
    table("web", "t1", 5);
    copyNodes();
    locks.delete(path, 0);
    writeInLaterFormat("nodes-9");
    copy = new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks); // Another master.
    copyNodes();
    assertThat(copy.contents().nodes().get(path).data()).isEqualTo(schema);
  }

  @Test
  void aCopyThatALaterVersionWroteHoldsNoMasterUpAndIsNotPassedOver() throws IOException {
    TabletRecord loaded = records.loaded(assigned(SERVER));
    copy.copyRoot(loaded);
    copyNodes();
    writeInLaterFormat("nodes-9");
    assertNewestIsRefused("nodes-9");
    Bootstrap.begin(SystemRuntime.INSTANCE, fs, ROOT, locks, records);
    copy = new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks); // Another master.
    assertThat(copyNodes()).isTrue();
    restoring();
    writeInLaterFormat("root-1-9");
    assertNewestIsRefused("root-1-9");
    assertThat(copy.copyRootIfBehind(loaded)).isTrue();
    assertThat(copy.copyRootIfBehind(loaded)).isFalse();
    restoring();
  }

  private void writeInLaterFormat(String name) throws IOException {
    try (FSDataOutputStream out = fs.create(new Path(layout.lockService(), name))) {
      out.write(LaterNodes.inLaterFormat("LockNodesValue").toByteArray());
    }
  }

  private void assertNewestIsRefused(String name) {
    assertThatThrownBy(this::restoring)
        .isInstanceOf(NewerFormatException.class)
        .hasMessageContaining(name);
  }

  @Test
  void aNodeOfALaterVersionThatCannotBeRestoredIsPassedOver() throws IOException {
    copy.copyRoot(assigned(SERVER));
    nodes.readAll();
    nodes.nodes().put("quotas", tooLarge());
    nodes.nodes().put("views", new CopiedNode(Bytes.of("a view"), 0, 0));
    copy.copyNodes(nodes);
    restoring().restore();
    assertThat(lost.lasting()).contains("views", LockPaths.ROOT).doesNotContain("quotas");
  }

  @Test
  void aNodeThatIsTooLargeIsRefusedBeforeAnyIsRestored() throws IOException {
    copy.copyRoot(assigned(SERVER));
    nodes.readAll();
    nodes.nodes().put(LockPaths.BALANCE, tooLarge());
    copy.copyNodes(nodes);
    assertRefused(() -> restoring().restore(), LockPaths.BALANCE);
    assertThat(lost.lasting()).isEmpty();
  }

  private static CopiedNode tooLarge() {
    return new CopiedNode(Bytes.wrap(new byte[LockService.DATA_BYTES_MAX + 1]), 0, 0);
  }

  @Test
  void aTableThatWasOverwrittenWithRubbishStaysInTheCopy() throws IOException {
    String path = LockPaths.TABLES + "/t1";
    Bytes schema = TableCodec.encode(TableSchema.of("web", "contents"));
    locks.create(path, schema);
    copyNodes();
    locks.write(path, Bytes.of("rubbish"), 0);
    locks.create(LockPaths.job("j"), Bytes.of("lease")); // So that it copies again.
    copyNodes();
    assertThat(copy.contents().nodes().get(path).data()).isEqualTo(schema);
  }

  @Test
  void aTableThatNoNameHasAnyMoreIsNotCopied() throws IOException {
    String path = LockPaths.TABLES + "/t1";
    locks.create(path, TableCodec.encode(TableSchema.of("web", "contents")));
    table("web", "t1", 5);
    copyNodes();
    locks.delete(path, 0);
    String name = LockPaths.tableName("web");
    locks.delete(name, locks.read(name).orElseThrow().version());
    copyNodes();
    assertThat(copy.contents().nodes()).doesNotContainKey(path);
  }

  @Test
  void onlyWhatChangedIsReadAgain() throws IOException {
    table("web", "t1", 5);
    nodes.readAll();
    table("web", "t2", 6);
    locks.delete(LockPaths.TABLES + "/t1", 0);
    nodes.readName("web");
    assertThat(nodes.nodes()).containsKey(LockPaths.TABLES + "/t2");
    assertThat(nodes.nodes()).doesNotContainKey(LockPaths.TABLES + "/t1");
  }

  @Test
  void anEpochThatWasServedAndNotCopiedIsNotRestored() throws IOException {
    TabletRecord first = assigned(SERVER);
    copy.markRoot(1);
    copy.markRoot(1); // A load that is tried again.
    copy.copyRoot(first);
    copyNodes();
    restoring();
    copy.markRoot(2);
    assertRefused(this::restoring, "served under epoch 2");
    TabletRecord loaded = records.loaded(records.reassign(first, OTHER));
    assertThat(copy.trouble(loaded)).isPresent();
    assertThat(copy.copyRootIfBehind(loaded)).isTrue();
    assertThat(copy.copyRootIfBehind(loaded)).isFalse();
    assertThat(copy.trouble(loaded)).isEmpty();
    restoring();
  }

  @Test
  void aCopyOlderThanTheFilesOfTheRootTabletIsNotRestored() throws IOException {
    copy.copyRoot(assigned(SERVER));
    copyNodes();
    Path file = layout.resolve(Layout.file(TabletId.ROOT, 2, 1));
    fs.mkdirs(file.getParent());
    fs.create(file).close();
    assertRefused(this::restoring, "2-1.sst");
  }

  private void table(String name, String id, long sequence) throws IOException {
    if (locks.read(LockPaths.TABLES + "/" + id).isEmpty()) {
      locks.create(LockPaths.TABLES + "/" + id, Bytes.of("schema"));
    }
    TableNames names = new TableNames(SystemRuntime.INSTANCE, locks);
    TableName now = names.read(name);
    assertThat(
            names.write(
                now,
                new TableName(
                    name,
                    Optional.of(new TableId(id)),
                    Optional.empty(),
                    List.of(),
                    sequence,
                    0,
                    now.version())))
        .isTrue();
  }

  @Test
  void aDamagedFileIsPassedOver() throws IOException {
    copy.copyRoot(assigned(SERVER));
    copyNodes();
    locks.create(LockPaths.TABLES + "/t1", Bytes.of("schema"));
    copyNodes();
    try (FSDataOutputStream out = fs.create(new Path(layout.lockService(), "nodes-2"))) {
      out.writeBytes("torn");
    }
    assertThat(restoring().tables()).isZero();
    try (FSDataOutputStream out = fs.create(new Path(layout.lockService(), "nodes-1"))) {
      out.writeBytes("torn too");
    }
    assertThatThrownBy(this::restoring).hasMessageContaining("nodes-");
  }

  @Test
  void aRecordOfAnOlderEpochDoesNotReplaceADamagedOne() throws IOException {
    TabletRecord first = assigned(SERVER);
    copy.copyRoot(first);
    copy.copyRoot(records.reassign(first, OTHER));
    copyNodes();
    try (FSDataOutputStream out = fs.create(new Path(layout.lockService(), "root-2-1"))) {
      out.writeBytes("torn");
    }
    assertThatThrownBy(this::restoring)
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("root-2-1");
  }

  @Test
  void withoutACompleteCopyNothingIsRestored() throws IOException {
    assertThatThrownBy(this::restoring)
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("no complete copy");
    copyNodes();
    assertThatThrownBy(this::restoring).hasMessageContaining("no complete copy");
  }

  @Test
  void idsOfTablesMadeSinceTheCopyAreNotGivenOutAgain() throws IOException {
    Schemas schemas = new Schemas(SystemRuntime.INSTANCE, locks);
    schemas.nextId();
    copy.copyRoot(assigned(SERVER));
    copyNodes();
    TableId uncopied = schemas.nextId();
    fs.mkdirs(layout.table(uncopied));
    restoring().restore();
    TableId next = new Schemas(SystemRuntime.INSTANCE, lost).nextId();
    assertThat(Long.parseLong(next.value().substring(1))).isGreaterThan(10_000);
  }

  /** Every node that Stele has is one that is restored, or one of those left out. */
  @Test
  void noKindOfNodeIsForgotten() throws IllegalAccessException {
    for (Field field : LockPaths.class.getFields()) {
      String path = (String) field.get(null);
      boolean copied = LastingNodes.SINGLE.contains(path) || LastingNodes.PARENTS.contains(path);
      assertThat(copied).as(path).isNotEqualTo(LEFT_OUT.contains(path));
    }
  }

  @Test
  void nodesOfKindsThatOnlyALaterVersionKnowsAreCopiedAndRestored() throws IOException {
    copy.copyRoot(assigned(SERVER));
    Bytes schema = TableCodec.encode(TableSchema.of("web", "contents"));
    locks.create(LockPaths.TABLES + "/t1", schema);
    table("web", "t1", 5);
    locks.create("quotas/web", Bytes.of("10"));
    locks.create(LockPaths.TABLES + "/t1/views", Bytes.of("a view"));
    locks.create(LockPaths.NAMES + "/web/aliases", Bytes.of("www"));
    locks.create(LockPaths.APPLICATION, Bytes.of("application_1_1"));
    locks.create(LockPaths.suspect(SERVER), Bytes.of("PT5S"));
    try (MemoryLockService other = store.connect(Runnable::run)) {
      assertThat(other.tryLock("later-lock", Bytes.of("holder"))).isPresent();
      assertThat(other.tryLock(LockPaths.server(SERVER), Bytes.of("server"))).isPresent();
      copyNodes();
    }
    copyNodes();
    assertThat(copy.contents().nodes())
        .containsKeys("quotas", "quotas/web", "tables/t1/views", "names/web/aliases")
        .doesNotContainKeys("later-lock", "servers", "suspects", LockPaths.suspect(SERVER))
        .doesNotContainKey(LockPaths.APPLICATION);
    locks.write("quotas/web", Bytes.of("20"), 0);
    nodes.readOthers();
    copy = new LockServiceCopy(SystemRuntime.INSTANCE, fs, layout, locks); // Another master.
    assertThat(copy.copyNodes(nodes)).isTrue();
    restoring().restore();
    assertThat(lost.read("quotas/web").orElseThrow().data()).isEqualTo(Bytes.of("20"));
    assertThat(lost.read("tables/t1/views").orElseThrow().data()).isEqualTo(Bytes.of("a view"));
    assertThat(lost.read("names/web/aliases").orElseThrow().data()).isEqualTo(Bytes.of("www"));
    assertThat(lost.read(LockPaths.TABLES + "/t1").orElseThrow().data()).isEqualTo(schema);
    assertThat(lost.read(LockPaths.ROOT)).isPresent();
  }

  @Test
  void aNameThatThisVersionMayNotChangeIsNotRestoredByIt() throws IOException {
    copy.copyRoot(assigned(SERVER));
    table("web", "t1", 5);
    String path = LockPaths.tableName("web");
    Bytes later = LaterNodes.nameRequiringMore(locks.read(path).orElseThrow().data());
    locks.write(path, later, locks.read(path).orElseThrow().version());
    copyNodes();
    assertRefused(() -> restoring().restore(), "requires " + LaterNodes.FEATURE);
    assertThat(lost.lasting()).isEmpty();
  }

  private TabletRecord assigned(ServerId server) throws IOException {
    return records.assign(records.reader().readRoot().orElseThrow(), server);
  }

  private LockServiceRestore restoring() throws IOException {
    return new LockServiceRestore(SystemRuntime.INSTANCE, fs, layout, lost);
  }

  private List<String> files() throws IOException {
    return Arrays.stream(fs.listStatus(layout.lockService()))
        .map(file -> file.getPath().getName())
        .sorted()
        .toList();
  }

  private static void assertRefused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String why) {
    assertThatThrownBy(call)
        .hasMessageContaining(why)
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
  }
}
