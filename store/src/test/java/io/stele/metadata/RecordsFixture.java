package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.runtime.ManualClocks;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Records of one table's tablets, in memory. */
final class RecordsFixture {
  static final TableId TABLE = new TableId("t1");

  final MemoryLockService locks = new MemoryLockStore().connect();
  final MemoryRows metadata = new MemoryRows();
  final ManualClocks clocks = new ManualClocks(0, Instant.ofEpochMilli(5000));
  final TabletRecords records =
      new TabletRecords(
          clocks,
          new RootRecordRows(clocks, locks, Duration.ofSeconds(60)),
          new MemoryRows(),
          metadata);
  final SplitRecords splits = new SplitRecords(records);

  /** Makes a table of one tablet. */
  TabletRecord only() throws IOException {
    records.createTable(TABLE, List.of());
    List<TabletRecord> all = records.reader().readAll(TABLE);
    assertThat(all).hasSize(1);
    return all.get(0);
  }

  /** Splits at {@code at}; the halves' names come from {@code salt}. */
  SplitResult split(TabletRecord parent, String at, int salt) throws IOException {
    Random names = new Random(salt);
    RowRange rows = parent.extent();
    return splits.split(
        parent,
        Bytes.of(at),
        new Child(
            TabletId.random(TABLE, names),
            clipped(parent, new RowRange(rows.start(), Bytes.of(at)))),
        new Child(
            TabletId.random(TABLE, names),
            clipped(parent, new RowRange(Bytes.of(at), rows.end()))));
  }

  /** The rows as a server leaves them that dies in the middle of a split. */
  void leaveTentative(TabletRecord parent, String at) {
    TabletRecord whole =
        TabletRecord.created(
            TabletId.random(TABLE, clocks.random()),
            new RowRange(parent.extent().start(), Bytes.of(at)));
    TabletRecord tentative =
        whole.toBuilder()
            .stored(parent.assignment(), parent.state())
            .files(parent.files())
            .logs(parent.logs())
            .redo(parent.redo())
            .tentative(
                Optional.of(
                    new TabletRecord.Tentative(
                        parent.id(), parent.assignment().epoch(), whole.id())))
            .build();
    metadata.apply(RecordCodec.putAll(tentative, "split").build());
  }

  private static List<FileRef> clipped(TabletRecord parent, RowRange rows) {
    return parent.files().stream().map(file -> file.clipped(rows)).toList();
  }

  /** A file with rows of any tablet. */
  static FileRef file(String path) {
    return FileRef.builder(path, 100, RowRange.ALL)
        .sequences(1, 2)
        .families(List.of("f"))
        .collectedMicros(7)
        .build();
  }

  /** A minor compaction that wrote {@code added}. */
  static ManifestEdit minor(FileRef added, Redo redo, boolean coversReplay) {
    return ManifestEdit.builder("minor compaction")
        .add(List.of(added))
        .reach(redo.sequence(), redo.highestTimestamp())
        .coversReplay(coversReplay)
        .build();
  }
}
