package io.stele.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.PinnedTablet;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.MiniStele;
import io.stele.sim.Operation;
import io.stele.sim.Site;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

class DirectRowsTest {
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final int ROWS = 200;
  private static final int VALUE_BYTES = 10_000;
  private static final int READAHEAD_BYTES = 100_000;

  private final CrashableDisk disk = new CrashableDisk();
  private MiniStele cluster;
  private Stele stele;
  private Table table;

  @BeforeEach
  void fill() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration());
    conf.set(Keys.SWEEP_INTERVAL.name(), "100ms");
    conf.set(Keys.CLIENT_TIMEOUT.name(), "10s"); // Reads of a missing file wait so long.
    cluster =
        MiniStele.start(conf, losingDeletedFiles(Site.inMemory(disk, new MemoryLockStore())), 2, 1);
    stele = cluster.client();
    stele.admin().createTable(TableSchema.of("web", "f", "g"));
    table = stele.table("web");
    Random random = new Random(1);
    for (int layer = 0; layer < 2; layer++) {
      try (BatchWriter writer = table.batchWriter()) {
        for (int i = layer; i < ROWS; i += layer + 1) {
          byte[] value = new byte[VALUE_BYTES]; // Not to be compressed: so that files are large.
          random.nextBytes(value);
          writer.add(Mutation.of(row(i)).put(layer == 0 ? "f" : "g", "q", value));
        }
      }
      stele.jobs().end(pin()); // Writes the memtable.
    }
  }

  @Test
  void ofNoRowsNothingIsReadNotEvenTheRecordOfATablet() throws IOException {
    Table pinned = table.atPin(pin());
    stele.admin().dropTable("web"); // Whoever looks for a tablet of it fails.
    try (DirectRows rows = DirectRows.of(pinned, RowQuery.ALL.withRanges(List.of()))) {
      assertThat(rows.read()).isEmpty();
    }
    RowQuery empty = RowQuery.ALL.withRanges(List.of(new RowRange(row(3), row(3))));
    try (DirectRows rows = DirectRows.of(pinned, empty)) {
      assertThat(rows.read()).isEmpty();
    }
  }

  /** The first file system mounted is the client's. */
  private static Site losingDeletedFiles(Site site) {
    AtomicBoolean clientHas = new AtomicBoolean();
    return new Site() {
      @Override
      public FileSystem mount() throws IOException {
        FileSystem view = site.mount();
        if (clientHas.compareAndSet(false, true)) {
          ((CrashableFileSystem) view).loseDeletedFiles();
        }
        return view;
      }

      @Override
      public LockService connect() throws IOException {
        return site.connect();
      }

      @Override
      public void kill(FileSystem view, RandomGenerator random) {
        site.kill(view, random);
      }
    };
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%04d", number));
  }

  private String pin() throws IOException {
    String job = stele.jobs().begin(LEASE);
    stele.jobs().pin(job, "web", RowRange.ALL);
    return job;
  }

  private static List<Row> rest(DirectRows rows) throws IOException {
    List<Row> rest = new ArrayList<>();
    for (Optional<Row> row = rows.read(); row.isPresent(); row = rows.read()) {
      rest.add(row.get());
    }
    return rest;
  }

  private List<Row> direct(String job, RowQuery query) throws IOException {
    try (DirectRows rows = DirectRows.of(table.atPin(job), query)) {
      return rest(rows);
    }
  }

  private List<Row> served(String job, RowQuery query) throws IOException {
    try (Rows rows = table.atPin(job).readRows(query)) {
      return rows.stream().toList();
    }
  }

  /** Changes the table and has every file of the pin replaced and deleted. */
  private void replaceFiles(String job) throws IOException {
    List<String> before =
        table.atPin(job).pinnedTablets().all().stream()
            .map(PinnedTablet::files)
            .flatMap(List::stream)
            .map(FileRef::path)
            .toList();
    assertThat(before).isNotEmpty();
    for (int i = 0; i < ROWS; i += 3) {
      table.mutate(Mutation.of(row(i)).deleteRow());
    }
    MiniStele.await(
        "the files are replaced and deleted",
        () -> {
          stele.admin().compactTable("web");
          return disk.files().stream()
              .map(Path::toUri)
              .map(Object::toString)
              .noneMatch(file -> before.stream().anyMatch(file::endsWith));
        });
  }

  @Test
  void filesThatGoInMidReadAreReplacedByTheOnesThereAreNow() throws IOException {
    String job = pin();
    List<Row> before = served(job, RowQuery.ALL);
    assertThat(before).hasSize(ROWS);
    try (DirectRows rows = DirectRows.of(table.atPin(job), RowQuery.ALL, READAHEAD_BYTES)) {
      List<Row> read = new ArrayList<>(List.of(rows.read().orElseThrow()));
      replaceFiles(job);
      read.addAll(rest(rows));
      assertThat(read).isEqualTo(before);
      assertThat(rows.retries()).isPositive();
    }
  }

  @Test
  void aTabletSplitInMidReadIsReadOnInItsHalves() throws IOException {
    String job = pin();
    List<Row> before = served(job, RowQuery.ALL);
    try (DirectRows rows = DirectRows.of(table.atPin(job), RowQuery.ALL, READAHEAD_BYTES)) {
      List<Row> read = new ArrayList<>(List.of(rows.read().orElseThrow()));
      stele.admin().splitTablet("web", row(50));
      stele.admin().splitTablet("web", row(120));
      replaceFiles(job);
      read.addAll(rest(rows));
      assertThat(read).isEqualTo(before);
    }
    assertThat(direct(job, RowQuery.ALL)).isEqualTo(before);
  }

  @Test
  void whatIsAskedForIsReadAsTheServersReadIt() throws IOException {
    String job = pin();
    replaceFiles(job);
    List<RowQuery> queries =
        List.of(
            RowQuery.ALL.family("g"),
            RowQuery.ALL.column("f", "q").versions(1),
            RowQuery.ALL.range(RowRange.single(row(7))).range(RowRange.single(row(9))),
            RowQuery.ALL
                .range(new RowRange(row(3), row(9)))
                .range(new RowRange(row(100), row(140)))
                .filter(new io.stele.model.Filter.ColumnIs(Column.of("g", "q"))),
            RowQuery.ALL.range(new RowRange(row(5), row(5))).range(RowRange.of("x", "")));
    for (RowQuery query : queries) {
      assertThat(direct(job, query)).as(query.toString()).isEqualTo(served(job, query));
    }
  }

  @Test
  void aFamilyThatThePinnedSchemaLacksIsRefused() throws IOException {
    String job = pin();
    assertThatThrownBy(() -> direct(job, RowQuery.ALL.family("h")))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("h");
  }

  @Test
  void nothingIsReadForAJobThatIsOver() throws IOException {
    String job = pin();
    try (DirectRows rows = DirectRows.of(table.atPin(job), RowQuery.ALL)) {
      assertThat(rows.read()).isPresent();
      stele.jobs().end(job);
      stele.jobs().end(pin()); // So that nothing keeps the files.
      MiniStele.await(
          "nothing is pinned",
          () ->
              cluster.records().readAll(table.id()).stream()
                  .allMatch(record -> record.pins().isEmpty()));
      stele.admin().compactTable("web");
      assertThatThrownBy(() -> direct(job, RowQuery.ALL))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
    }
  }

  @Test
  void aDroppedTableIsNotFound() throws IOException {
    String job = pin();
    stele.admin().dropTable("web");
    assertThatThrownBy(() -> direct(job, RowQuery.ALL))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.NOT_FOUND));
  }

  @Test
  void damageIsNamedAndNeverReadOver() throws IOException {
    String job = pin();
    PinnedTablet tablet = table.atPin(job).pinnedTablets().find(row(0));
    Path file = new Path("/stele", tablet.files().get(0).path());
    disk.flipBits(file, (int) tablet.files().get(0).length() / 2, 1);
    assertThatThrownBy(() -> direct(job, RowQuery.ALL))
        .isInstanceOf(io.stele.model.CorruptionException.class)
        .hasMessageContaining(tablet.files().get(0).path())
        .hasMessageContaining("tablet " + tablet.id() + " of table web")
        .hasMessageContaining("does not help")
        .hasMessageContaining("stele check --data");
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT) // It waits until the read gives up.
  void aFileThatCannotBeReadAnyMoreIsNamedWithItsTabletAndWhatToDo() throws IOException {
    String job = pin();
    PinnedTablet tablet = table.atPin(job).pinnedTablets().find(row(0));
    String file = tablet.files().get(0).path();
    try (DirectRows rows = DirectRows.of(table.atPin(job), RowQuery.ALL, READAHEAD_BYTES)) {
      assertThat(rows.read()).isPresent();
      disk.inject(
          FaultInjector.always(
              Operation.READ,
              path -> path.toString().endsWith(file),
              new FaultInjector.Effect.Fail()));
      assertThatThrownBy(() -> rest(rows))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("tablet " + tablet.id() + " of table web")
          .hasMessageContaining("/stele/" + file + " at offset ")
          .hasMessageContaining("Another attempt may succeed")
          .hasMessageContaining("hdfs fsck");
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT) // It waits until the read gives up.
  void aFileThatIsGoneThoughTheRecordNamesItIsNamed() throws IOException {
    String job = pin();
    PinnedTablet tablet = table.atPin(job).pinnedTablets().find(row(0));
    Path file = new Path("/stele", tablet.files().get(0).path());
    try (FileSystem files = disk.mount()) {
      assertThat(files.delete(file, false)).isTrue();
    }
    assertThatThrownBy(() -> direct(job, RowQuery.ALL))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tablet " + tablet.id() + " of table web")
        .hasMessageContaining(file.toString())
        .hasMessageContaining("will not find it either: run `stele check`");
  }
}
