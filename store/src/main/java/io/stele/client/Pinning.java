package io.stele.client;

import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Futures;
import io.stele.runtime.WorkerPool;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.PinTabletRequestProto;
import io.stele.wire.control.ControlProtos.PinTabletResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Pins the tablets with some rows of tables in them for one job, several at once.
 *
 * <p>Rows are divided where tablets meet now, and each part is pinned until the answers cover it:
 * so all rows are pinned, wherever tablets meet by then. One thread runs it, once.
 */
final class Pinning {
  private static final int AT_ONCE = 16;
  private static final Duration CHECK_EVERY = Duration.ofSeconds(1);

  private final Connection connection;
  private final String job;
  private final TabletPolling tablets;
  private final CompletableFuture<Void> failed = new CompletableFuture<>();
  private volatile boolean over; // One part failed, or all is done.

  /**
   * Rows of a table.
   *
   * @param name the table's name, for people
   */
  record Rows(TableId table, String name, RowRanges ranges) {}

  Pinning(Connection connection, String job) {
    this.connection = connection;
    this.job = job;
    this.tablets = new TabletPolling(connection);
  }

  /**
   * Pins all tablets with any of {@code all} in them. METADATA is read once for each table: other
   * jobs wait to commit meanwhile.
   *
   * @param renewal of the job
   * @throws SteleException RETRY_LATER if a tablet was not pinned in time; NOT_FOUND if the job is
   *     over
   */
  void run(List<Rows> all, JobRenewal renewal) throws IOException {
    String what = "pinning tables for job " + job;
    List<Rows> parts = new ArrayList<>();
    for (Rows rows : all) {
      parts.addAll(parts(rows));
      renewal.check();
    }
    List<CompletableFuture<Void>> pinned = new ArrayList<>();
    try (WorkerPool threads = connection.runtime().pool("pin-tablets", AT_ONCE)) {
      for (Rows part : parts) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        pinned.add(done);
        threads.execute(() -> pin(part, done));
      }
      CompletableFuture<Void> allPinned =
          CompletableFuture.allOf(pinned.toArray(CompletableFuture<?>[]::new));
      CompletableFuture<?> end = CompletableFuture.anyOf(allPinned, failed);
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
  private List<Rows> parts(Rows rows) throws IOException {
    if (rows.ranges().isEmpty()) {
      return List.of();
    }
    return connection.dividedByTablet(rows.table(), rows.ranges()).stream()
        .map(part -> new Rows(rows.table(), rows.name(), part))
        .toList();
  }

  private void pin(Rows part, CompletableFuture<Void> done) {
    String what = "pinning table " + part.name() + " for job " + job;
    try {
      RowRanges left = part.ranges();
      while (!over && !left.isEmpty()) {
        left = left.from(pinTablet(part.table(), left.first(), what));
      }
      if (left.isEmpty()) {
        done.complete(null);
      }
    } catch (IOException | RuntimeException | Error e) {
      failed.completeExceptionally(e);
    }
  }

  /** Pins the tablet with {@code row} in it; returns where the rows end that are pinned so. */
  private Bytes pinTablet(TableId table, Bytes row, String what) throws IOException {
    return tablets
        .untilDone(table, row, what, this::pinOnce, () -> !over)
        .orElseThrow(() -> SteleException.retryLater(what + ": given up"))
        .end();
  }

  private TabletPolling.Answer pinOnce(CachedServerCalls servers, TabletLocation at, RowRange known)
      throws IOException {
    PinTabletRequestProto request =
        PinTabletRequestProto.newBuilder().setTablet(ClusterCalls.ref(at)).setJob(job).build();
    PinTabletResponseProto answer =
        servers.call(at.server(), server -> server.pinTablet(null, request));
    RowRange rows = // The server says them only when it has pinned them.
        answer.getDone()
            ? ByteStrings.range(answer.getStartRow(), answer.getEndRow())
            : at.extent();
    return new TabletPolling.Answer(answer.getDone(), rows, answer.getTrouble());
  }
}
