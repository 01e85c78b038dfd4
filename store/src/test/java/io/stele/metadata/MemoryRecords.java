package io.stele.metadata;

import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Tablet records whose rows are in memory, of which a part may be away or damaged. */
public final class MemoryRecords {
  /** Called with an update of a row. */
  @FunctionalInterface
  public interface Hook {
    /** May throw what the update is to fail with. */
    void on(Mutation update) throws IOException;
  }

  private final MemoryRows ofMetadata = new MemoryRows();
  private final MemoryRows ofTables = new MemoryRows();
  private final TabletRecords records;
  private volatile Optional<RowRange> away = Optional.empty();
  private Runnable whenAway = () -> {};
  private volatile int reads;
  private volatile Hook before = update -> {};
  private volatile Hook after = update -> {};

  /** No records; the root tablet's is in {@code locks}. */
  public MemoryRecords(ProcessRuntime runtime, LockService locks) {
    records =
        new TabletRecords(
            runtime,
            new RootRecordRows(runtime, locks, Duration.ofSeconds(60)),
            ofMetadata,
            new Reachable(ofTables));
  }

  /** The records. */
  public TabletRecords records() {
    return records;
  }

  /** The rows of METADATA that cannot be reached from now on. */
  public void setAway(Optional<RowRange> rows) {
    away = rows;
  }

  /** Runs {@code action} whenever somebody tries to reach rows that are away. */
  public void whenAway(Runnable action) {
    whenAway = action;
  }

  /** Has {@code hook} called before every update of a table's tablet from now on. */
  public void before(Hook hook) {
    before = hook;
  }

  /** Has {@code hook} called after every update of a table's tablet from now on. */
  public void after(Hook hook) {
    after = hook;
  }

  /** How many requests have read records of tables' tablets. */
  public int reads() {
    return reads;
  }

  /** Makes the record of a table's tablet unreadable. */
  public void damage(Bytes row) {
    Column state = RecordCodec.STATE;
    Bytes rubbish = Bytes.of("rubbish");
    ofTables.apply(Mutation.builder(row).put(state.family(), state.qualifier(), rubbish).build());
  }

  /** Has the record of a table's tablet require {@code feature} of its readers. */
  public void require(Bytes row, String feature) {
    Column requires = RecordCodec.REQUIRES;
    Mutation.Builder mutation = Mutation.builder(row);
    ofTables.apply(
        mutation.put(requires.family(), requires.qualifier(), Bytes.of(feature)).build());
  }

  /** The record of a new tablet. */
  public TabletRecord fresh(TabletId tablet, RowRange extent) {
    return TabletRecord.created(tablet, extent);
  }

  /** Writes any record of a table's tablet, in place of what its row had. */
  public TabletRecord put(TabletRecord record) {
    ofTables.apply(Mutation.of(record.row()).deleteRow());
    Mutation.Builder row = RecordCodec.putAll(record, "test");
    record.dropped().forEach((path, millis) -> RecordCodec.putDropped(row, path, millis));
    ofTables.apply(row.build());
    return record;
  }

  /** Rows of which some may be away. */
  private final class Reachable implements RecordRows {
    private final MemoryRows rows;

    Reachable(MemoryRows rows) {
      this.rows = rows;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread runs at a time.
    public List<Row> scan(RowRange range, int limit) throws IOException {
      reads++;
      check(range);
      return rows.scan(range, limit);
    }

    @Override
    public boolean update(Condition condition, Mutation mutation) throws IOException {
      check(RowRange.single(mutation.row()));
      before.on(mutation);
      boolean done = rows.update(condition, mutation);
      after.on(mutation);
      return done;
    }

    private void check(RowRange range) {
      if (away.flatMap(range::intersection).isPresent()) {
        whenAway.run();
        throw SteleException.retryLater("this part of METADATA is away");
      }
    }
  }
}
