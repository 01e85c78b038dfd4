package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.sim.MemoryLockStore;
import io.stele.yarn.ClusterClaim.Fate;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class ClusterClaimTest {
  private static final String FIRST = "application_1_0001";
  private static final String SECOND = "application_1_0002";

  private final LockService locks = new MemoryLockStore().connect();
  private final ClusterClaim claim = new ClusterClaim(locks);
  private final Map<String, Fate> fates =
      new TreeMap<>(Map.of(FIRST, Fate.ALIVE, SECOND, Fate.ALIVE));

  private Optional<String> take(String application) throws IOException {
    return claim.take(application, fates::get);
  }

  @Test
  void oneApplicationHasTheClusterAndTheNextLearnsWhich() throws IOException {
    assertThat(claim.other(SECOND, fates::get)).isEmpty();
    assertThat(take(FIRST)).isEmpty();
    assertThat(take(SECOND)).contains(FIRST);
    assertThat(claim.other(SECOND, fates::get)).contains(FIRST);
    assertThat(claim.holder()).contains(FIRST);
  }

  @Test
  void theNextAttemptOfTheSameApplicationHasItToo() throws IOException {
    assertThat(take(FIRST)).isEmpty();
    assertThat(take(FIRST)).isEmpty();
    assertThat(claim.other(FIRST, fates::get)).isEmpty();
  }

  @Test
  void anApplicationThatHasEndedLosesIt() throws IOException {
    take(FIRST);
    fates.put(FIRST, Fate.ENDED);
    assertThat(take(SECOND)).isEmpty();
    assertThat(claim.holder()).contains(SECOND);
    fates.put(FIRST, Fate.ALIVE);
    assertThat(take(FIRST)).contains(SECOND);
  }

  @Test
  void ofTwoThatTakeItFromADeadOneOnlyOneGetsIt() throws IOException {
    take("application_1_0000x");
    fates.put("application_1_0000x", Fate.ENDED);
    // While the first asks what became of the holder, the second takes the cluster.
    Optional<String> first =
        claim.take(
            FIRST,
            holder -> {
              if (!holder.equals(SECOND)) {
                assertThat(take(SECOND)).isEmpty();
              }
              return fates.get(holder);
            });
    assertThat(first).contains(SECOND);
    assertThat(claim.holder()).contains(SECOND);
  }

  @Test
  void whatYarnDoesNotKnowHasItWhileItsProcessesHoldLocks() throws IOException {
    take(FIRST);
    fates.put(FIRST, Fate.UNKNOWN);
    var master = locks.tryLock(LockPaths.MASTER, Bytes.of("master")).orElseThrow();
    assertThat(take(SECOND)).contains(FIRST);
    master.release();
    var server = locks.tryLock(LockPaths.SERVERS + "/host_1_2", Bytes.of("s")).orElseThrow();
    assertThat(take(SECOND)).contains(FIRST);
    server.release();
    assertThat(take(SECOND)).isEmpty();
  }

  @Test
  void onlyItsHolderGivesItUp() throws IOException {
    take(FIRST);
    claim.release(SECOND);
    assertThat(claim.holder()).contains(FIRST);
    claim.release(FIRST);
    assertThat(claim.holder()).isEmpty();
    assertThat(take(SECOND)).isEmpty();
  }
}
