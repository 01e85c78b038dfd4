package io.stele.client;

import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.wire.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The tablets of a cluster as the client sees them: a seam, so that callers can be tested without a
 * cluster.
 *
 * <p>Safe for use by any number of threads; nothing here blocks.
 */
interface Tablets {
  /** Where the tablet with {@code row} is, as {@link io.stele.metadata.TabletLocator} has it. */
  CompletableFuture<TabletLocation> locate(TableId table, Bytes row, Deadline deadline);

  /** A request to {@code location} failed and will be sent again, there or elsewhere. */
  void failed(TabletLocation location, Decision.Again next);

  /** One request to one server, as {@link TabletAccess#once} sends it. */
  CompletableFuture<Response> once(
      TabletLocation to, TabletAccess.Message message, Duration timeout);

  /**
   * A request to the tablet with {@code row} in it, tried again until it is answered or the
   * deadline is over.
   */
  CompletableFuture<TabletAccess.Answer> send(TabletAccess.RowRequest request, Deadline deadline);

  /** The tablets of a real cluster. */
  static Tablets of(TabletAccess access) {
    return new Tablets() {
      @Override
      public CompletableFuture<TabletLocation> locate(TableId table, Bytes row, Deadline deadline) {
        return access.locator().locate(table, row, deadline);
      }

      @Override
      public void failed(TabletLocation location, Decision.Again next) {
        access.locator().doubt(location, next);
      }

      @Override
      public CompletableFuture<Response> once(
          TabletLocation to, TabletAccess.Message message, Duration timeout) {
        return access.once(to, message, timeout);
      }

      @Override
      public CompletableFuture<TabletAccess.Answer> send(
          TabletAccess.RowRequest request, Deadline deadline) {
        return access.send(request, deadline);
      }
    };
  }
}
