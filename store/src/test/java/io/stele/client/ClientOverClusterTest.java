package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.stele.config.Keys;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Filter;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableSchema;
import io.stele.sim.CrashableDisk;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** The public API over whole clusters in memory. */
class ClientOverClusterTest {
  private static Configuration conf() {
    Configuration conf = MiniStele.quick(new Configuration(false));
    conf.set(Keys.VALUE_BYTES_MAX.name(), "64k");
    return conf;
  }

  private static MiniStele cluster(int servers) throws IOException {
    return MiniStele.start(conf(), Site.inMemory(), servers, 1);
  }

  /** What was deleted before does not count, wherever and however often the tablet was loaded. */
  @Test
  void aLowerNumberOfVersionsDeletesNothingThatWasTheNewest() throws Exception {
    try (MiniStele cluster = cluster(2)) {
      Stele stele = cluster.client();
      TableSchema three =
          TableSchema.of("t", List.of(new ColumnFamily("f", GcPolicy.maxVersions(3))));
      stele.admin().createTable(three);
      Table table = stele.table("t");
      table.mutate(Mutation.of("a").put("f", Bytes.EMPTY, 1, Bytes.of("old")));
      table.mutate(Mutation.of("a").put("f", Bytes.EMPTY, 2, Bytes.of("wrong")));
      table.mutate(Mutation.of("a").with(new Edit.DeleteCell("f", Bytes.EMPTY, 2)));
      stele
          .admin()
          .alterTable("t", schema -> schema.with(new ColumnFamily("f", GcPolicy.maxVersions(1))));
      assertThat(table.readRow("a").orElseThrow().value("f", "")).contains(Bytes.of("old"));
      TabletInfo tablet = table.tablets().get(0);
      stele.admin().splitTablet("t", Bytes.of("m"));
      stele.admin().compactTable("t");
      assertThat(table.readRow("a").orElseThrow().value("f", "")).contains(Bytes.of("old"));
      assertThat(table.tablets()).hasSize(2).doesNotContain(tablet);
    }
  }

  @Test
  void everyCallDoesWhatItSays() throws Exception {
    try (MiniStele cluster = cluster(2)) {
      Stele stele = cluster.client();
      TableSchema schema =
          TableSchema.of("t", "f").with(new ColumnFamily("v", GcPolicy.maxVersions(2)));
      stele.admin().createTable(schema, List.of(Bytes.of("m")));
      Table table = stele.table("t");
      assertThat(table.schema()).isEqualTo(schema);
      assertThat(stele.admin().listTables()).containsExactly(schema);
      assertThat(table.tablets())
          .extracting(TabletInfo::rows)
          .containsExactly(RowRange.of("", "m"), RowRange.of("m", ""));

      table.mutate(Mutation.of("a").put("f", "q", "1").put("v", "", "1"));
      table.mutateAsync(Mutation.of("a").put("v", "", "2")).get();
      table.mutate(Mutation.of("a").put("v", "", "3"));
      Row row = table.readRow("a").orElseThrow();
      assertThat(row.value("f", "q")).contains(Bytes.of("1"));
      assertThat(row.family("v"))
          .extracting(cell -> cell.value().toUtf8())
          .containsExactly("3", "2");
      assertThat(row.cells("v", ""))
          .extracting(cell -> cell.value().toUtf8())
          .containsExactly("3", "2");
      assertThat(table.readRow("a", RowQuery.ALL.family("v").versions(1)))
          .hasValueSatisfying(one -> assertThat(one.cells()).hasSize(1));
      assertThat(table.exists("a")).isTrue();
      assertThat(table.readRow("b")).isEmpty();
      assertThat(table.exists("b")).isFalse();
      Bytes firstRow = Bytes.of("a");
      assertThat(table.readRows(List.of(Bytes.of("x"), firstRow), RowQuery.ALL.family("f")))
          .isEqualTo(Map.of(firstRow, new Row(firstRow, row.family("f"))));

      changesDoWhatTheySay(table);
      try (Rows rows = table.readRows(RowQuery.ALL)) {
        assertThat(rows).extracting(r -> r.key().toUtf8()).containsExactly("a", "b", "n", "x");
      }
      List<RowKeySample> samples = table.sampleRowKeys();
      assertThat(samples.get(samples.size() - 1).row()).isEqualTo(Bytes.EMPTY);
      assertThat(stele.admin().clusterStatus().servers()).hasSize(2);

      stele.admin().dropTable("t");
      SteleException gone = catchThrowableOfType(SteleException.class, () -> stele.table("t"));
      assertThat(gone.code()).isEqualTo(Code.NOT_FOUND);
    }
  }

  private static void changesDoWhatTheySay(Table table) throws Exception {
    List<Outcome> outcomes =
        table.mutateAll(
            List.of(
                Mutation.of("x").put("f", "", "1"),
                Mutation.of("y").put("nosuch", "", "1"),
                Mutation.of("x").put("f", "", "2"),
                Mutation.of("b").put("f", "", "3")));
    assertThat(outcomes).extracting(Outcome::isApplied).containsExactly(true, false, true, true);
    assertThat(outcomes.get(1).failure().orElseThrow().code()).isEqualTo(Code.NOT_FOUND);
    assertThat(table.readRow("x").orElseThrow().value("f", "")).contains(Bytes.of("2"));

    outcomes =
        table
            .mutateAllAsync(
                List.of(
                    Mutation.of("x").put("f", "", "3"), Mutation.of("y").put("nosuch", "", "1")))
            .get();
    assertThat(outcomes).extracting(Outcome::isApplied).containsExactly(true, false);
    assertThat(table.readRow("x").orElseThrow().value("f", "")).contains(Bytes.of("3"));

    Filter isOne = Filter.newestIs(Column.of("f", "q"), Bytes.of("1"));
    Mutation toTwo = Mutation.of("a").put("f", "q", "2");
    assertThat(table.checkAndMutate(CheckAndMutate.ifAny(isOne, toTwo))).isTrue();
    assertThat(table.checkAndMutate(CheckAndMutate.ifAny(isOne, toTwo))).isFalse();
    Filter isTwo = Filter.newestIs(Column.of("f", "q"), Bytes.of("2"));
    Mutation toThree = Mutation.of("a").put("f", "q", "3");
    CheckAndMutate twoToThree = CheckAndMutate.ifAny(isTwo, toThree);
    assertThat(table.checkAndMutateAsync(twoToThree).get()).isTrue();
    assertThat(table.checkAndMutateAsync(twoToThree).get()).isFalse();

    Bytes key = Bytes.of("n");
    ReadModifyWrite add = ReadModifyWrite.increment(key, "f", Bytes.of("c"), 5);
    assertThat(table.readModifyWrite(add).value("f", "c").orElseThrow().toLong()).isEqualTo(5);
    assertThat(table.readModifyWriteAsync(add).get().value("f", "c").orElseThrow().toLong())
        .isEqualTo(10);
  }

  private static final int LARGE_CELLS = 400;

  /** A table with rows a, large (of 24 MB: more than a part) and z. */
  private static Table withALargeRow(Stele stele) throws Exception {
    stele.admin().createTable(TableSchema.of("t", "f"));
    Table table = stele.table("t");
    table.mutate(Mutation.of("a").put("f", "q", "1"));
    table.mutate(Mutation.of("z").put("f", "q", "1"));
    Bytes value = Bytes.of(new byte[60_000]);
    for (int i = 0; i < LARGE_CELLS; i++) {
      table.mutate(Mutation.of("large").put("f", Bytes.of(String.format("q%03d", i)), 1, value));
    }
    return table;
  }

  /** Something that takes a row's tablet to another server. */
  private interface Move {
    void make(MiniStele cluster, ServerId from) throws IOException;
  }

  private static Mutation ofOneValue(String value) {
    Mutation.Builder row = Mutation.builder(Bytes.of("row"));
    for (int i = 0; i < 4; i++) {
      row.put("f", Bytes.of("q" + i), Bytes.of(value));
    }
    return row.build();
  }

  /** Without a filter, a small row in memory comes whole. */
  private static final RowQuery IN_PARTS = RowQuery.ALL.filter(new Filter.PassAll());

  private static List<String> values(Cells cells) throws IOException {
    List<String> values = new ArrayList<>();
    for (Optional<Cell> next = cells.read(); next.isPresent(); next = cells.read()) {
      values.add(next.get().value().toUtf8());
    }
    return values;
  }

  @Test
  void mutationsOfARowStayInOrderWhereTheSchemaMustBeReadAgain() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      for (int round = 0; round < 10; round++) {
        Table table = stele.table("t");
        String family = "g" + round;
        stele.admin().alterTable("t", schema -> schema.with(ColumnFamily.of(family)));
        List<Outcome> outcomes =
            table.mutateAll(
                List.of(
                    Mutation.of("r").put(family, "", "1"),
                    Mutation.of("r").put("nosuch", "", "1"),
                    Mutation.of("r").put("f", "", "old"),
                    Mutation.of("r").put(family, "", "2"),
                    Mutation.of("r").deleteRow(),
                    Mutation.of("r").put("f", "", "new")));
        assertThat(outcomes)
            .extracting(Outcome::isApplied)
            .containsExactly(true, false, true, true, true, true);
        assertThat(table.readRow("r").orElseThrow().cells())
            .singleElement()
            .satisfies(cell -> assertThat(cell.value()).isEqualTo(Bytes.of("new")));
      }
    }
  }

  @Test
  void readsThatCannotBeMeantAreRefused() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      cluster.client().admin().createTable(TableSchema.of("t", "f"));
      Table table = cluster.client().table("t");
      assertThatThrownBy(() -> table.readRow(Bytes.EMPTY)).hasMessageContaining("is empty");
      assertThatThrownBy(() -> table.readCells(Bytes.EMPTY, RowQuery.ALL))
          .hasMessageContaining("is empty");
      table.mutate(Mutation.of("r").put("f", "", "1"));
      Cells cells = table.readCells(Bytes.of("r"), RowQuery.ALL);
      cells.close();
      assertThatThrownBy(cells::read).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void theStatusSaysAtOnceWhetherBalancingIsOn() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      Admin admin = cluster.client().admin();
      for (boolean on : List.of(false, true, false)) {
        admin.setBalanced(on);
        assertThat(admin.clusterStatus().balanced()).isEqualTo(on);
      }
    }
  }

  @Test
  void aTabletThatIsSplitBeforeItMovesIsMovedWhereItsRowIs() throws Exception {
    try (MiniStele cluster = cluster(2)) {
      Stele stele = cluster.client();
      stele.admin().setBalanced(false);
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t");
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      table.mutate(Mutation.of("z").put("f", "q", "1"));
      ServerId before = table.tablets().get(0).server().orElseThrow();
      ClusterChange move =
          new ClusterChangeRequests(stele.admin().calls())
              .move("t", Bytes.of("z"), Optional.empty());
      stele.admin().splitTablet("t", Bytes.of("m"));
      assertThat(move.await().server()).isPresent().isNotEqualTo(Optional.of(before));
      assertThat(table.tablets())
          .extracting(tablet -> tablet.server().equals(Optional.of(before)))
          .containsExactly(true, false);
    }
  }

  @Test
  void aRowWhosePartsComeFromTwoServersIsOfOneMomentOrFails() throws Exception {
    List<Move> moves = List.of(MiniStele::drainServer, MiniStele::killServer);
    for (Move move : moves) {
      try (MiniStele cluster = cluster(2)) {
        cluster.client().admin().createTable(TableSchema.of("t", "f"));
        Table table = cluster.client().table("t").withRowBytesMax(16); // Each cell is a part.
        table.mutate(ofOneValue("1"));
        try (Cells cells = table.readCells(Bytes.of("row"), IN_PARTS)) {
          assertThat(cells.read().orElseThrow().value()).isEqualTo(Bytes.of("1"));
          move.make(cluster, table.tablets().get(0).server().orElseThrow());
          table.mutate(ofOneValue("2"));
          try {
            assertThat(values(cells)).containsExactly("1", "1", "1");
          } catch (RowChangedException e) {
            assertThat(e.code()).isEqualTo(Code.RETRY_LATER);
          }
        }
        try (Cells again = table.readCells(Bytes.of("row"), RowQuery.ALL)) {
          assertThat(values(again)).containsExactly("2", "2", "2", "2");
        }
      }
    }
  }

  @Test
  void aRowWhosePartsAreOfTwoSchemasIsReadAgainOrFails() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      ColumnFamily three = new ColumnFamily("f", GcPolicy.maxVersions(3));
      ColumnFamily one = new ColumnFamily("f", GcPolicy.maxVersions(1));
      TableSchema schema = TableSchema.of("t", List.of(three));
      cluster.client().admin().createTable(schema);
      Table table = cluster.client().table("t").withRowBytesMax(16); // Each cell is a part.
      for (String value : List.of("1", "2", "3")) {
        table.mutate(Mutation.of("row").put("f", "q", value));
      }
      try (Cells cells = table.readCells(Bytes.of("row"), IN_PARTS)) {
        assertThat(cells.read().orElseThrow().value()).isEqualTo(Bytes.of("3"));
        cluster.client().admin().alterTable(schema, schema.with(one));
        assertThatThrownBy(() -> values(cells)).isInstanceOf(RowChangedException.class);
      }
      assertThat(table.readRow("row").orElseThrow().cells()).hasSize(1);
    }
  }

  @Test
  void aRowLargerThanAnAnswerIsPutTogether() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      Table table = withALargeRow(cluster.client());
      assertThat(table.readRow("large").orElseThrow().cells()).hasSize(LARGE_CELLS);
      try (Rows rows = table.readRows(RowQuery.ALL)) {
        assertThat(rows)
            .extracting(row -> row.key() + " " + row.cells().size())
            .containsExactly("a 1", "large " + LARGE_CELLS, "z 1");
      }
      RowQuery some = RowQuery.ALL.filter(new Filter.CellsPerRowOffset(LARGE_CELLS - 3));
      assertThat(table.readRow(Bytes.of("large"), some).orElseThrow().cells())
          .extracting(cell -> cell.qualifier().toUtf8())
          .containsExactly("q397", "q398", "q399");
      int cells = 0;
      try (Cells all = table.readCells(Bytes.of("large"), RowQuery.ALL)) {
        while (all.read().isPresent()) {
          cells++;
        }
      }
      assertThat(cells).isEqualTo(LARGE_CELLS);
    }
  }

  @Test
  void aRowLargerThanItsReaderAllowsFailsTheReadWhichMayGoOnAfterIt() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      Table table = withALargeRow(cluster.client()).withRowBytesMax(10 << 20);
      assertThatThrownBy(() -> table.readRow("large"))
          .isInstanceOf(RowTooLargeException.class)
          .hasMessageContaining("row \"large\" of table t has more than 10485760 bytes");
      try (Rows rows = table.readRows(RowQuery.ALL)) {
        assertThat(rows.read().orElseThrow().key()).isEqualTo(Bytes.of("a"));
        RowTooLargeException tooLarge =
            catchThrowableOfType(RowTooLargeException.class, rows::read);
        assertThat(tooLarge.row()).isEqualTo(Bytes.of("large"));
        rows.skipPast(tooLarge.row());
        assertThat(rows.read().orElseThrow().key()).isEqualTo(Bytes.of("z"));
        assertThat(rows.read()).isEmpty();
      }
    }
  }

  @Test
  void aRowWhoseOneCellIsTooLargeFailsTheReadToo() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t").withRowBytesMax(30 << 10);
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      table.mutate(Mutation.of("large").put("f", Bytes.of("q"), 1, Bytes.of(new byte[60_000])));
      table.mutate(Mutation.of("z").put("f", "q", "1"));
      assertThatTheLargeRowIsPassed(table, RowQuery.ALL);
    }
  }

  @Test
  void aRowWhichAFilterMakesTooLargeFailsTheReadToo() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t").withRowBytesMax(30 << 10);
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      table.mutate(Mutation.of("large").put("f", Bytes.of("q"), 1, Bytes.of(new byte[6 << 10])));
      table.mutate(Mutation.of("z").put("f", "q", "1"));
      Filter[] branches = new Filter[6];
      Arrays.fill(branches, new Filter.PassAll());
      assertThatTheLargeRowIsPassed(table, RowQuery.ALL.filter(Filter.interleave(branches)));
    }
  }

  private static void assertThatTheLargeRowIsPassed(Table table, RowQuery query)
      throws IOException {
    assertThatThrownBy(() -> table.readRow(Bytes.of("large"), query))
        .isInstanceOf(RowTooLargeException.class);
    assertThatThrownBy(() -> table.readRows(List.of(Bytes.of("large"), Bytes.of("a")), query))
        .isInstanceOf(RowTooLargeException.class);
    assertThat(table.readRow(Bytes.of("z"), query)).isPresent();
    try (Rows rows = table.readRows(query)) {
      assertThat(rows.read().orElseThrow().key()).isEqualTo(Bytes.of("a"));
      for (int i = 0; i < 2; i++) { // It fails as often as it is tried.
        RowTooLargeException tooLarge =
            catchThrowableOfType(RowTooLargeException.class, rows::read);
        assertThat(tooLarge.row()).isEqualTo(Bytes.of("large"));
      }
      rows.skipPast(Bytes.of("large"));
      assertThat(rows.read().orElseThrow().key()).isEqualTo(Bytes.of("z"));
      assertThat(rows.read()).isEmpty();
    }
  }

  @Test
  void aHotRowTakesManyMutationsAndNoneFails() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      Stele stele = cluster.client();
      stele
          .admin()
          .createTable(
              TableSchema.of("t", "x").with(new ColumnFamily("f", GcPolicy.maxVersions(1))));
      Table table = stele.table("t");
      int count = 30_000;
      try (BatchWriter writer = table.batchWriter()) {
        for (int i = 0; i < count; i++) {
          writer.add(Mutation.of("hot").put("f", "q" + i % 10, Integer.toString(i)));
        }
      }
      Row row = table.readRow("hot").orElseThrow();
      for (int i = count - 10; i < count; i++) { // The last one added is the newest.
        assertThat(row.value("f", "q" + i % 10)).contains(Bytes.of(Integer.toString(i)));
      }
    }
  }

  @Test
  void wrongInputIsRefusedInWordsAndAFamilyAddedLaterIsFound() throws Exception {
    try (MiniStele cluster = cluster(1)) {
      Stele stele = cluster.client();
      assertThatThrownBy(() -> stele.table("nosuch"))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("no table nosuch");
      stele.admin().createTable(TableSchema.of("t", "f"));
      assertThatThrownBy(() -> stele.admin().createTable(TableSchema.of("t", "f")))
          .isInstanceOf(SteleException.class);
      Table table = stele.table("t");
      assertThatThrownBy(() -> table.mutate(Mutation.of("r").put("g", "", "v")))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("table t has no family \"g\": it has f");
      assertThatThrownBy(() -> table.readRows(RowQuery.ALL.family("g")))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("no family \"g\"");
      assertThatThrownBy(() -> table.mutate(Mutation.of("r").put("f", "", new byte[70_000])))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("has 70000 bytes: the limit is 65536");
      assertThat(table.readRow("r")).isEmpty();

      stele.admin().alterTable("t", schema -> schema.with(ColumnFamily.of("g")));
      assertThatThrownBy(
              () ->
                  stele.admin().alterTable(TableSchema.of("t", "f"), TableSchema.of("t", "f", "h")))
          .hasMessageContaining("altered by somebody else");
      table.mutate(Mutation.of("r").put("g", "", "v"));
      assertThat(table.readRow("r").orElseThrow().value("g", "")).contains(Bytes.of("v"));
    }
  }

  @Test
  void rowsAreDeletedByRangeAndAllAndWhatIsWrittenLaterStays() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 2, 1)) {
      Stele stele = cluster.client();
      Admin admin = stele.admin();
      admin.createTable(TableSchema.of("t", "f"), List.of(Bytes.of("d"), Bytes.of("g")));
      Table table = stele.table("t");
      for (String row : List.of("a", "b", "c", "d", "e", "f", "g", "h")) {
        table.mutate(Mutation.of(row).put("f", "", "v"));
      }
      admin.deleteRows("t", RowRange.of("b", "f"));
      assertThat(keys(table)).containsExactly("a", "f", "g", "h");
      table.mutate(Mutation.of("c").put("f", "", "new"));
      admin.mergeTablet("t", Bytes.of("d"));
      admin.compactTable("t");
      assertThat(keys(table)).containsExactly("a", "c", "f", "g", "h");
      admin.truncateTable("t");
      assertThat(keys(table)).isEmpty();
      table.mutate(Mutation.of("z").put("f", "", "new"));
      assertThat(keys(table)).containsExactly("z");

      assertThatThrownBy(() -> admin.truncateTable("u"))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("there is no table u");
      assertThatThrownBy(() -> admin.deleteRows("t", RowRange.of("b", "b")))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("no row in the range");
      assertThatThrownBy(() -> admin.deleteRows("t", RowRange.prefix("")))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("truncate");
      assertThat(keys(table)).containsExactly("z");
    }
  }

  private static List<String> keys(Table table) throws IOException {
    List<String> keys = new ArrayList<>();
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      rows.forEach(row -> keys.add(row.key().toUtf8()));
    }
    return keys;
  }

  @Test
  void aWriteThatAsksForItIsOnDiskWhenItIsAcknowledged() throws Exception {
    CrashableDisk disk = new CrashableDisk();
    Site site = Site.inMemory(disk, new MemoryLockStore());
    try (MiniStele cluster = MiniStele.start(conf(), site, 1, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t");
      Table synced = table.withDurability(Durability.HSYNC);
      Path log = new Path("/stele/logs/" + cluster.servers().get(0) + "/user-1.log");
      Bytes row = Bytes.of("r");
      Mutation mutation = Mutation.of(row).put("f", "q", "1");
      Filter isOne = Filter.newestIs(Column.of("f", "q"), Bytes.of("1"));
      ReadModifyWrite add = ReadModifyWrite.increment(row, "f", Bytes.of("n"), 1);

      table.mutate(mutation);
      assertThat(disk.unsyncedBytes(log)).isPositive();
      synced.mutate(mutation);
      assertThat(disk.unsyncedBytes(log)).isZero();

      table.readModifyWrite(add);
      assertThat(disk.unsyncedBytes(log)).isPositive();
      synced.readModifyWrite(add);
      assertThat(disk.unsyncedBytes(log)).isZero();

      table.checkAndMutate(CheckAndMutate.ifAny(isOne, mutation));
      assertThat(disk.unsyncedBytes(log)).isPositive();
      synced.checkAndMutate(CheckAndMutate.ifAny(isOne, mutation));
      assertThat(disk.unsyncedBytes(log)).isZero();

      table.mutateAll(List.of(mutation, mutation));
      assertThat(disk.unsyncedBytes(log)).isPositive();
      synced.mutateAll(List.of(mutation, mutation));
      assertThat(disk.unsyncedBytes(log)).isZero();

      try (BatchWriter writer = table.batchWriter()) {
        writer.add(Mutation.of("a").put("f", "q", "1"));
        writer.flush();
        assertThat(disk.unsyncedBytes(log)).isPositive();
        writer.add(Mutation.of("b").put("f", "q", "1"));
        writer.add(Mutation.of("c").put("f", "q", "1"), Durability.HSYNC).get();
        assertThat(disk.unsyncedBytes(log)).isZero();
      }
      try (BatchWriter writer = synced.batchWriter()) {
        writer.add(mutation);
      }
      assertThat(disk.unsyncedBytes(log)).isZero();

      stele.admin().createTable(TableSchema.of("u", "f").withHsync(true));
      stele.table("u").mutate(mutation);
      assertThat(disk.unsyncedBytes(log)).isZero();
    }
  }

  @Test
  void aTaskThatAppendsMuchAndIsTriedAgainHasAppendedOnce() throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t");
      Bytes large = Bytes.of(new byte[50_000]);
      table.mutate(Mutation.of("r").put("f", Bytes.EMPTY, large));
      BatchWriter.Options task =
          BatchWriter.Options.ofBufferBytes(1 << 20).withFirstOperation(new OperationId(7, 1, 1));
      for (int attempt = 0; attempt < 2; attempt++) {
        BatchWriter writer = table.batchWriter(task);
        writer.add(ReadModifyWrite.append(Bytes.of("r"), "f", Bytes.EMPTY, large));
        writer.flush(); // And dies.
      }
      assertThat(table.readRow("r").orElseThrow().value("f", "").orElseThrow().length())
          .isEqualTo(100_000);
    }
  }

  @Test
  void incrementsCountOnceWhileServersDie() throws Exception {
    int threads = 4;
    int rounds = 60;
    try (MiniStele cluster = cluster(2)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"), List.of(Bytes.of("row2")));
      Table table = stele.table("t");
      List<CompletableFuture<Void>> workers = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        workers.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int i = 0; i < rounds; i++) {
                    Bytes row = Bytes.of("row" + i % 4);
                    try {
                      table.readModifyWrite(ReadModifyWrite.increment(row, "f", Bytes.EMPTY, 1));
                    } catch (IOException e) {
                      throw new UncheckedIOException(e);
                    }
                  }
                },
                task -> new Thread(task).start()));
      }
      for (int i = 0; i < 2; i++) {
        MiniStele.await("some were counted", () -> table.readRow("row3").isPresent());
        cluster.startServer();
        cluster.killServer(cluster.servers().get(0));
      }
      CompletableFuture.allOf(workers.toArray(CompletableFuture<?>[]::new)).get();
      for (int i = 0; i < 4; i++) {
        assertThat(table.readRow("row" + i).orElseThrow().value("f", "").orElseThrow().toLong())
            .isEqualTo(threads * rounds / 4);
      }
    }
  }

  @Test
  void aScanReturnsEveryRowOnceWhileTabletsSplitAndServersDie() throws Exception {
    int count = 1500;
    try (MiniStele cluster = cluster(2)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f").withSplitBytes(256 << 10));
      Table table = stele.table("t");
      byte[] value = new byte[1000];
      new Random(1).nextBytes(value);
      try (BatchWriter writer = table.batchWriter()) {
        for (int i = 0; i < count; i++) {
          writer.add(Mutation.of(String.format("row%05d", i)).put("f", "", value));
        }
      }
      AtomicBoolean done = new AtomicBoolean();
      CompletableFuture<Void> disturbance =
          CompletableFuture.runAsync(
              () -> {
                try (BatchWriter writer = table.batchWriter()) {
                  for (int i = 0; !done.get() && i < 20_000; i++) {
                    // Between the rows that are counted.
                    writer.add(
                        Mutation.of(String.format("row%05d+", i % count)).put("f", "", value));
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      for (int round = 0; round < 2; round++) {
        int next = 0;
        try (Rows rows = table.readRows(RowQuery.ALL.versions(1))) {
          for (Row row : rows) {
            String key = row.key().toUtf8();
            if (!key.endsWith("+")) {
              assertThat(key).isEqualTo(String.format("row%05d", next++));
              if (next == count / 3) {
                cluster.startServer();
                cluster.killServer(cluster.servers().get(0));
              }
            }
          }
        }
        assertThat(next).isEqualTo(count);
      }
      done.set(true);
      disturbance.get();
    }
  }
}
