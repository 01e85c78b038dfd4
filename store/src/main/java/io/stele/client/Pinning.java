package io.stele.client;

import io.stele.metadata.TabletLocation;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.WorkerPool;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.PinTabletRequestProto;
import io.stele.wire.control.ControlProtos.PinTabletResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Pins the tablets of a table for one job, several at once.
 *
 * <p>Rows are divided where tablets meet now, and each part is pinned until the answers cover it:
 * so all rows are pinned, wherever tablets meet by then. One thread runs it.
 */
final class Pinning {
  private static final int AT_ONCE = 16;
  private static final Duration CHECK_EVERY = Duration.ofSeconds(1);

  private final Connection connection;
  private final String job;
  private final TableId table;
  private final String what;
  private final ServerCalls servers;
  private final CompletableFuture<Void> failed = new CompletableFuture<>();
  private volatile boolean over; // One part failed, or all is done.

  Pinning(Connection connection, String job, TableId table, String name) {
    this.connection = connection;
    this.job = job;
    this.table = table;
    this.servers = new ServerCalls(connection);
    this.what = "pinning table " + name + " for job " + job;
  }

  /**
   * Pins all tablets with {@code rows} in them.
   *
   * @param renewal of the job
   * @throws SteleException RETRY_LATER if a tablet was not pinned in time; NOT_FOUND if the job is
   *     over
   */
  void run(RowRange rows, JobRenewal renewal) throws IOException {
    List<CompletableFuture<Void>> parts = new ArrayList<>();
    try (WorkerPool threads = connection.runtime().pool("pin-tablets", AT_ONCE)) {
      for (RowRange part : parts(rows)) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        parts.add(done);
        threads.execute(() -> pin(part, done));
      }
      CompletableFuture<Void> all =
          CompletableFuture.allOf(parts.toArray(CompletableFuture<?>[]::new));
      CompletableFuture<?> end = CompletableFuture.anyOf(all, failed);
      while (!connection.runtime().await(end, CHECK_EVERY)) {
        renewal.check();
      }
      Futures.await(connection.runtime(), end, what);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, what);
    } finally {
      over = true;
    }
  }

  /** The rows, divided where tablets meet. */
  private List<RowRange> parts(RowRange rows) throws IOException {
    List<RowRange> parts = new ArrayList<>();
    Bytes start = rows.start();
    for (TabletRecord record : connection.records().readOver(table, rows)) {
      Bytes next = record.extent().start();
      if (next.compareTo(start) > 0 && rows.contains(next)) {
        parts.add(new RowRange(start, next));
        start = next;
      }
    }
    parts.add(new RowRange(start, rows.end()));
    return parts;
  }

  private void pin(RowRange part, CompletableFuture<Void> done) {
    try {
      Bytes row = part.start();
      while (!over) {
        Bytes end = pinTablet(row);
        if (end.isEmpty() || (!part.end().isEmpty() && end.compareTo(part.end()) >= 0)) {
          done.complete(null);
          return;
        }
        row = end;
      }
    } catch (IOException | RuntimeException | Error e) {
      failed.completeExceptionally(e);
    }
  }

  /** Pins the tablet with {@code row} in it; returns where the rows end that are pinned so. */
  private Bytes pinTablet(Bytes row) throws IOException {
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    Pauses pauses = new Pauses(connection.runtime(), what);
    Optional<String> trouble = Optional.empty(); // As the tablet's server has it.
    while (!over) {
      TabletLocation at = connection.locate(table, row, what);
      PinTabletRequestProto request =
          PinTabletRequestProto.newBuilder().setTablet(ClusterCalls.ref(at)).setJob(job).build();
      try {
        PinTabletResponseProto answer =
            servers.call(at.server(), server -> server.pinTablet(null, request));
        trouble = Optional.of(answer.getTrouble()).filter(why -> !why.isEmpty());
        if (answer.getDone()) {
          // The tablet's rows as its server has them: it may have been split since it was located.
          RowRange pinned = ByteStrings.range(answer.getStartRow(), answer.getEndRow());
          if (pinned.contains(row)) {
            return pinned.end();
          }
          connection.forget(at);
        }
      } catch (IOException | SteleException e) {
        if (!ClusterCalls.mayPass(e) || deadline.isOver()) {
          throw e;
        }
        servers.forget();
        connection.forget(at);
      }
      if (deadline.isOver()) {
        throw SteleException.retryLater(
            what
                + ": the tablet with row \""
                + row
                + "\" was not pinned within "
                + connection.timeout().toMillis()
                + " ms"
                + trouble.map(why -> "; its server says: " + why).orElse(""));
      }
      pauses.pause();
    }
    throw SteleException.retryLater(what + ": given up");
  }
}
