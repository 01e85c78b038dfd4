package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.Futures;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * Writes rows without end, a thread for each of some tablets, and remembers which writes were
 * acknowledged. Close it.
 */
final class AcknowledgedWrites implements AutoCloseable {
  private static final long PAUSE_MILLIS = 20;

  private final Table table;
  private final List<Writer> writers = new ArrayList<>();
  private volatile boolean enough;

  /** Creates the table, with a tablet for each writer, and begins to write. */
  AcknowledgedWrites(Stele stele, String name, int tablets) throws IOException {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < tablets; i++) {
      splits.add(Bytes.of(prefix(i)));
    }
    stele.admin().createTable(TableSchema.of(name, "f"), splits);
    table = stele.table(name);
    for (int i = 0; i < tablets; i++) {
      Writer writer = new Writer(i);
      writers.add(writer);
      writer.start();
    }
  }

  private static String prefix(int tablet) {
    return "t%d-".formatted(tablet);
  }

  private static String row(int tablet, int number) {
    return prefix(tablet) + "%08d".formatted(number);
  }

  /** Waits until in each tablet a write was acknowledged that began after this call. */
  void awaitOneInEachTablet() throws Exception {
    List<Integer> begun = writers.stream().map(Writer::begun).toList();
    for (int i = 0; i < writers.size(); i++) {
      Writer writer = writers.get(i);
      int after = begun.get(i);
      Components.awaitThat("a write to " + prefix(i), () -> writer.acknowledgedAfter(after));
    }
  }

  /** The longest time in which a tablet acknowledged no write, since this was last called. */
  Duration longestGap() {
    return writers.stream().map(Writer::longestGap).max(Duration::compareTo).orElseThrow();
  }

  /** Reads all rows: each acknowledged write is there, and no call failed as none may. */
  void check() throws IOException {
    List<BitSet> acknowledged = writers.stream().map(Writer::acknowledged).toList();
    List<BitSet> read = writers.stream().map(writer -> new BitSet()).toList();
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        String[] key = row.key().toUtf8().substring(1).split("-");
        int number = Integer.parseInt(key[1]);
        assertThat(row.value("f", "q").map(Bytes::toLong)).contains((long) number);
        read.get(Integer.parseInt(key[0])).set(number);
      }
    }
    for (int i = 0; i < writers.size(); i++) {
      BitSet lost = (BitSet) acknowledged.get(i).clone();
      lost.andNot(read.get(i));
      assertThat(lost)
          .as("acknowledged writes of %s that are lost", prefix(i))
          .isEqualTo(new BitSet());
      assertThat(writers.get(i).failure()).as("a call that failed for good").isEmpty();
    }
  }

  @Override
  public void close() throws IOException {
    enough = true;
    for (Writer writer : writers) {
      try {
        writer.join();
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "waiting for the end of a writer");
      }
    }
  }

  private final class Writer extends Thread {
    private final int tablet;
    private final BitSet acknowledged = new BitSet(); // Guarded by this.
    private int begun;
    private int last = -1;
    private long lastNanos = System.nanoTime();
    private long longestGapNanos;
    private Optional<Exception> failure = Optional.empty();

    Writer(int tablet) {
      super("writer-" + tablet);
      this.tablet = tablet;
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        while (!enough) {
          write(begin());
          Thread.sleep(PAUSE_MILLIS); // So that there are not too many to read again.
        }
      } catch (IOException | SteleException | InterruptedException e) {
        failed(e);
      }
    }

    private void write(int number) throws IOException {
      try {
        table.mutate(
            Mutation.of(row(tablet, number)).put("f", Bytes.of("q"), Bytes.ofLong(number)));
        acknowledge(number);
      } catch (SteleException e) {
        if (e.code() != SteleException.Code.RETRY_LATER
            && e.code() != SteleException.Code.OUTCOME_UNKNOWN) {
          throw e;
        }
      }
    }

    private synchronized int begin() {
      return begun++;
    }

    private synchronized void acknowledge(int number) {
      long now = System.nanoTime();
      longestGapNanos = Math.max(longestGapNanos, now - lastNanos);
      lastNanos = now;
      last = number;
      acknowledged.set(number);
    }

    private synchronized void failed(Exception e) {
      failure = Optional.of(e);
    }

    synchronized Optional<Exception> failure() {
      return failure;
    }

    synchronized int begun() {
      return begun;
    }

    synchronized boolean acknowledgedAfter(int number) {
      assertThat(failure).as("a call that failed for good").isEmpty();
      return last >= number;
    }

    synchronized BitSet acknowledged() {
      return (BitSet) acknowledged.clone();
    }

    synchronized Duration longestGap() {
      Duration gap = Duration.ofNanos(longestGapNanos);
      longestGapNanos = 0;
      return gap;
    }
  }
}
