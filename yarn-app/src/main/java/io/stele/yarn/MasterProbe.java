package io.stele.yarn;

import io.stele.config.ClusterConfig;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockPaths;
import io.stele.lock.VersionedData;
import io.stele.metadata.MasterInfo;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Address;
import io.stele.wire.ControlClient;
import io.stele.wire.MasterProtocol;
import io.stele.wire.control.ControlProtos.EmptyProto;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/**
 * Asks whether the cluster has a master that answers. To hold the masters' lock is not enough: who
 * has it may still fail to begin. For use by one thread; close it.
 */
final class MasterProbe implements Closeable {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);

  private final Configuration conf;
  private final LockConnection locks;

  MasterProbe(ProcessRuntime runtime, Configuration conf) {
    this.conf = conf;
    ClusterConfig cluster = ClusterConfig.of(conf);
    this.locks = new LockConnection(runtime, () -> CuratorLockService.connect(runtime, cluster));
  }

  /** Why no master answers, for people; empty if one does. */
  Optional<String> missing() throws IOException {
    try {
      Optional<VersionedData> lock = locks.get().read(LockPaths.MASTER);
      if (lock.isEmpty()) {
        return Optional.of("no master has been elected");
      }
      MasterInfo info = MasterInfo.decode(lock.get().data());
      return info.address().isPresent()
          ? unanswered(info.address().get())
          : Optional.of("the master " + info.process() + " was elected and does not serve yet");
    } catch (IOException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      return Optional.of("ZooKeeper does not answer: " + e.getMessage());
    }
  }

  private Optional<String> unanswered(Address address) throws IOException {
    try (ControlClient<MasterProtocol> master =
        ControlClient.connect(conf, address, MasterProtocol.class, ANSWER_TIMEOUT)) {
      master.call(protocol -> protocol.clusterStatus(null, EmptyProto.getDefaultInstance()));
      return Optional.empty();
    } catch (IOException | SteleException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      if (e instanceof SteleException known && known.code() == SteleException.Code.REFUSED) {
        return Optional.empty(); // It does answer: that this user may not ask.
      }
      return Optional.of("the master at " + address + " does not answer: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    locks.close();
  }
}
