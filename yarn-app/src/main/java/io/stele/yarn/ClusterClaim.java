package io.stele.yarn;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.yarn.api.records.ApplicationReport;

/**
 * Records which YARN application has the cluster. At most one has it: a node of the lock service
 * holds its id. An application takes the cluster before it asks for containers, and keeps it
 * through restarts of its ApplicationMaster. After it has ended, the next application that asks
 * takes the cluster.
 *
 * <p>Calls block. Safe for use by several threads.
 */
final class ClusterClaim {
  /** What is known of applications. */
  interface Applications {
    /** What has become of the application. Blocks. */
    Fate fateOf(String applicationId) throws IOException;
  }

  /** What has become of an application. */
  enum Fate {
    ALIVE,
    ENDED,
    /** This YARN does not know it: it is another YARN's, or has been forgotten. */
    UNKNOWN;

    /** The fate that YARN reports. */
    static Fate of(ApplicationReport report) {
      return switch (report.getYarnApplicationState()) {
        case NEW, NEW_SAVING, SUBMITTED, ACCEPTED, RUNNING -> ALIVE;
        case FINISHED, FAILED, KILLED -> ENDED;
      };
    }
  }

  private final LockService locks;

  ClusterClaim(LockService locks) {
    this.locks = locks;
  }

  /** The application that the cluster was last given to, whether or not it still runs. */
  Optional<String> holder() throws IOException {
    return locks.read(LockPaths.APPLICATION).map(node -> node.data().toUtf8());
  }

  /** The other application that has the cluster; empty if none has, or {@code own} itself. */
  Optional<String> other(String own, Applications applications) throws IOException {
    Optional<String> holder = holder().filter(id -> !id.equals(own));
    return holder.isPresent() && isHeldBy(holder.get(), applications) ? holder : Optional.empty();
  }

  /**
   * Takes the cluster for an application, unless another one has it.
   *
   * @return the other one; empty if the cluster is the application's
   */
  Optional<String> take(String applicationId, Applications applications) throws IOException {
    Bytes id = Bytes.of(applicationId);
    while (true) {
      Optional<VersionedData> node = locks.read(LockPaths.APPLICATION);
      if (node.isEmpty()) {
        if (created(id)) {
          return Optional.empty();
        }
      } else if (node.get().data().equals(id)) {
        return Optional.empty();
      } else if (isHeldBy(node.get().data().toUtf8(), applications)) {
        return Optional.of(node.get().data().toUtf8());
      } else if (locks.write(LockPaths.APPLICATION, id, node.get().version()).isPresent()) {
        return Optional.empty();
      } // Otherwise another application was faster: read which one.
    }
  }

  private boolean created(Bytes id) throws IOException {
    try {
      locks.create(LockPaths.APPLICATION, id);
      return true;
    } catch (SteleException e) {
      if (e.code() == SteleException.Code.ALREADY_EXISTS) {
        return false; // By now.
      }
      throw e;
    }
  }

  private boolean isHeldBy(String holder, Applications applications) throws IOException {
    return switch (applications.fateOf(holder)) {
      case ALIVE -> true;
      case ENDED -> false;
      // Its processes are then the proof of its life: they hold locks.
      case UNKNOWN ->
          locks.read(LockPaths.MASTER).isPresent() || !locks.children(LockPaths.SERVERS).isEmpty();
    };
  }

  /** Gives the cluster up, if the application has it. */
  void release(String applicationId) throws IOException {
    Optional<VersionedData> node = locks.read(LockPaths.APPLICATION);
    if (node.isPresent() && node.get().data().equals(Bytes.of(applicationId))) {
      locks.delete(LockPaths.APPLICATION, node.get().version());
    }
  }
}
