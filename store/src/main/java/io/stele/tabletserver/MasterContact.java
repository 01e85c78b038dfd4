package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.lock.LockService;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletRefs;
import io.stele.wire.control.ControlProtos.TabletNotLoadedRequestProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.TabletsChangedRequestProto;
import io.stele.wire.control.ControlProtos.TabletsChangedResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages that a server sends to the master without being asked. Each is sent once: if it is
 * lost, the master finds out by asking.
 *
 * <p>A separate thread sends changes of tablets, and of the contents of the server's lock. Changes
 * that come while it waits for an answer are sent together. Safe for use by any number of threads.
 */
final class MasterContact implements TabletNews, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MasterContact.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(3);
  private static final int UNSENT_MAX = 10_000;

  private final LockService locks;
  private final ControlPlane plane;
  private final ServerId self;
  private final WorkerPool sender;

  @GuardedBy("this")
  private final Map<TabletId, TabletRefProto> unsent = new LinkedHashMap<>();

  @GuardedBy("this")
  private boolean newsLeft;

  @GuardedBy("this")
  private boolean sending;

  private volatile boolean draining;

  MasterContact(ProcessRuntime runtime, LockService locks, ControlPlane plane, ServerId self) {
    this.sender = runtime.pool("master-contact", 1);
    this.locks = locks;
    this.plane = plane;
    this.self = self;
  }

  @Override
  public void notLoaded(TabletId tablet, Bytes row, long epoch, Throwable why) {
    TabletNotLoadedRequestProto request =
        TabletNotLoadedRequestProto.newBuilder()
            .setServerId(self.toString())
            .setTablet(TabletRefs.of(tablet, row, epoch))
            .setReason(why.toString())
            .setFailsElsewhere(FailureCause.of(why) == FailureCause.TABLET)
            .build();
    tell(tablet + " failed to load", master -> master.tabletNotLoaded(null, request));
  }

  /** Whether the server's lock says that it gives its tablets away. */
  boolean isDraining() {
    return draining;
  }

  /** Sets whether the server's lock says that it gives its tablets away. Never waits. */
  void drains(boolean now) {
    draining = now;
    send(List.of());
  }

  @Override
  public void changed(List<TabletRecord> tablets) {
    send(tablets);
  }

  private void send(List<TabletRecord> tablets) {
    synchronized (this) {
      newsLeft = true;
      for (TabletRecord record : tablets) {
        if (unsent.size() < UNSENT_MAX) { // The master reads all records now and then.
          unsent.put(
              record.id(), TabletRefs.of(record.id(), record.row(), record.assignment().epoch()));
        }
      }
      if (sending) {
        return;
      }
      sending = true;
    }
    try {
      sender.execute(this::sendAll);
    } catch (RejectedExecutionException e) {
      LOG.debug("The server stops", e);
    }
  }

  private void sendAll() {
    try {
      sendNews();
    } catch (RuntimeException | Error e) { // The next news are sent again.
      synchronized (this) {
        sending = false;
      }
      throw e;
    }
  }

  private void sendNews() {
    while (true) {
      TabletsChangedRequestProto request;
      synchronized (this) {
        if (!newsLeft) {
          sending = false;
          return;
        }
        request =
            TabletsChangedRequestProto.newBuilder()
                .setServerId(self.toString())
                .addAllTablets(unsent.values())
                .setDraining(draining)
                .build();
        unsent.clear();
        newsLeft = false;
      }
      tell("tablets changed", master -> master.tabletsChanged(null, request));
    }
  }

  /**
   * Whether another server would get this one's tablets: one that answers the master and whose lock
   * does not say that it gives its own away. False if there is no master: they would stay unserved.
   *
   * <p>Call it when this server's own lock already says that it gives tablets away. The others'
   * locks are read last. So of two servers that drain at the same time, at least one sees that the
   * other takes none.
   *
   * @throws IOException if the master does not answer
   */
  boolean othersTakeTablets() throws IOException {
    Optional<Address> master = MasterInfo.address(locks);
    if (master.isEmpty()) {
      return false;
    }
    TabletsChangedRequestProto request =
        TabletsChangedRequestProto.newBuilder()
            .setServerId(self.toString())
            .setDraining(draining)
            .build();
    TabletsChangedResponseProto answer =
        plane.call(
            master.get(),
            MasterProtocol.class,
            TIMEOUT,
            protocol -> protocol.tabletsChanged(null, request));
    return ServerInfo.all(locks).entrySet().stream()
        .filter(other -> !other.getKey().equals(self) && !other.getValue().draining())
        .anyMatch(
            other ->
                !answer.hasTakers() // Of an earlier version, that does not say.
                    || answer.getTakers().getServerIdsList().contains(other.getKey().toString()));
  }

  private <T> void tell(String what, ControlPlane.Call<MasterProtocol, T> call) {
    try {
      Optional<Address> master = MasterInfo.address(locks);
      if (master.isPresent()) {
        plane.call(master.get(), MasterProtocol.class, TIMEOUT, call);
      }
    } catch (IOException | SteleException e) {
      LOG.info("Cannot tell the master that {}: {}", what, e.toString());
    }
  }

  @Override
  public void close() {
    sender.close();
  }
}
