package io.stele.tabletserver;

import io.stele.lock.LockService;
import io.stele.metadata.MasterInfo;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.control.ControlProtos.TabletNotLoadedRequestProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages that a server sends to the master unasked. Each is sent once: if it is lost, the
 * master finds out by asking. Blocks; safe for use by any number of threads.
 */
final class MasterContact implements LoadFailures {
  private static final Logger LOG = LoggerFactory.getLogger(MasterContact.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final LockService locks;
  private final ControlPlane plane;
  private final ServerId self;

  MasterContact(LockService locks, ControlPlane plane, ServerId self) {
    this.locks = locks;
    this.plane = plane;
    this.self = self;
  }

  @Override
  public void notLoaded(TabletId tablet, Bytes row, long epoch, Throwable why) {
    TabletNotLoadedRequestProto request =
        TabletNotLoadedRequestProto.newBuilder()
            .setServerId(self.toString())
            .setTablet(
                TabletRefProto.newBuilder()
                    .setTableId(tablet.table().value())
                    .setTablet(tablet.name())
                    .setEpoch(epoch)
                    .setMetadataRow(ByteStrings.of(row)))
            .setReason(why.toString())
            .setFailsElsewhere(Blame.of(why) == Blame.TABLET)
            .build();
    try {
      Optional<Address> master = MasterInfo.address(locks);
      if (master.isPresent()) {
        plane.call(
            master.get(), MasterProtocol.class, TIMEOUT, one -> one.tabletNotLoaded(null, request));
      }
    } catch (IOException | SteleException e) {
      LOG.info("Cannot tell the master that {} failed to load: {}", tablet, e.toString());
    }
  }
}
