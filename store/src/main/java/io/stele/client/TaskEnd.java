package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Operations;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.OperationId;
import io.stele.wire.Address;
import io.stele.wire.DataPlane;
import io.stele.wire.OperationCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Ends an attempt of a task that has written all records: it tells the servers to which it wrote,
 * so that they need no longer remember single records. This only saves their memory.
 *
 * <p>Safe for use by any number of threads; nothing here blocks.
 */
final class TaskEnd {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  private final Tablets tablets;
  private final TableRef table;
  private final Operations operations;

  @GuardedBy("this")
  private final Map<Address, TabletLocation> met = new LinkedHashMap<>();

  TaskEnd(Tablets tablets, TableRef table, Operations operations) {
    this.tablets = tablets;
    this.table = table;
    this.operations = operations;
  }

  /** A server has answered. */
  void met(TabletLocation tablet) {
    if (operations.task().isPresent()) {
      synchronized (this) {
        met.put(tablet.address(), tablet);
      }
    }
  }

  /** Completes when the servers have answered, or when their time is over; it never fails. */
  CompletableFuture<Void> tell() {
    Optional<OperationId> task = operations.task();
    if (task.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    List<TabletLocation> servers;
    synchronized (this) {
      servers = List.copyOf(met.values());
      met.clear();
    }
    List<CompletableFuture<?>> told = new ArrayList<>();
    for (TabletLocation server : servers) {
      TabletAccess.Message message =
          new TabletAccess.Message(
              OperationCodec.settle(table.id(), task.get(), operations.outstanding()),
              DataPlane.EMPTY);
      told.add(tablets.once(server, message, TIMEOUT).exceptionally(failure -> null));
    }
    return CompletableFuture.allOf(told.toArray(CompletableFuture[]::new));
  }

  /** Refuses the end of an attempt that has not written the same records as an earlier one. */
  void check() {
    operations
        .missing()
        .ifPresent(
            why -> {
              throw why;
            });
  }
}
