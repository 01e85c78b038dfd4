package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Assignment;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HotTabletsTest {
  private static final TableId T = new TableId("t1");
  private static final long MIB = 1 << 20;

  private final List<ServerId> servers = new ArrayList<>();
  private final ServerLoads loads = new ServerLoads();
  private final HotTablets hot = new HotTablets(64 * MIB);
  private Map<TabletId, ClusterSnapshot.Move> moves = Map.of();
  private long second;

  private static TabletId tablet(int number) {
    return new TabletId(T, String.format("%016x", number));
  }

  private void put(int number, int server, long bytes, double rate) {
    while (servers.size() <= server) {
      servers.add(new ServerId("s" + servers.size(), 1, 1));
    }
    loads.put(tablet(number), Assignment.NEVER.assignedTo(servers.get(server)).loaded(), bytes);
    loads.measured(tablet(number), rate);
  }

  /** What is to be split in a time, looked for every five seconds. */
  private List<TabletId> pass(int seconds) {
    List<TabletId> split = new ArrayList<>();
    for (int i = 0; i < seconds; i += 5) {
      second += 5;
      Balancer.Cluster cluster = new Balancer.Cluster(servers, List.of(), Set.of(), moves, 0);
      split.addAll(hot.toSplit(loads, cluster, Duration.ofSeconds(second).toNanos()));
    }
    return split;
  }

  @Test
  void aTabletWithAServersShareOfRequestsIsSplitAfterAMinute() {
    put(1, 0, 500 * MIB, 3000);
    put(2, 1, 500 * MIB, 300);
    put(3, 2, 500 * MIB, 300);
    assertThat(pass(55)).isEmpty();
    assertThat(pass(10)).containsExactly(tablet(1));
  }

  @Test
  void theHalvesOfASplitTabletAreLeftAloneForAMinute() {
    put(1, 0, 500 * MIB, 3000);
    put(2, 1, 500 * MIB, 300);
    put(3, 2, 500 * MIB, 300);
    assertThat(pass(65)).containsExactly(tablet(1));
    loads.remove(tablet(1));
    put(4, 0, 250 * MIB, 1500);
    put(5, 0, 250 * MIB, 1500);
    assertThat(pass(50)).isEmpty();
  }

  @Test
  void aSmallTabletIsNotSplit() {
    put(1, 0, 63 * MIB, 3000);
    put(2, 1, 500 * MIB, 300);
    put(3, 2, 500 * MIB, 300);
    assertThat(pass(300)).isEmpty();
  }

  @Test
  void aTabletWithLessThanHalfOfAServersShareIsNotSplit() {
    for (int number = 1; number <= 7; number++) {
      put(number, number % 3, 500 * MIB, 900);
    }
    assertThat(pass(300)).isEmpty();
  }

  @Test
  void noTabletOfAnIdleClusterIsSplit() {
    put(1, 0, 500 * MIB, 90);
    put(2, 1, 500 * MIB, 1);
    assertThat(pass(300)).isEmpty();
  }

  @Test
  void oneThatIsHotNowAndThenIsNotSplit() {
    put(2, 1, 500 * MIB, 100);
    for (int i = 0; i < 10; i++) {
      loads.remove(tablet(1));
      put(1, 0, 500 * MIB, 3000);
      assertThat(pass(40)).isEmpty();
      loads.remove(tablet(1));
      put(1, 0, 500 * MIB, 10);
      assertThat(pass(5)).isEmpty();
    }
  }

  @Test
  void whereThereIsOneServerOnlyOrTheTabletMovesItIsNotSplit() {
    put(1, 0, 500 * MIB, 3000);
    assertThat(pass(300)).isEmpty();
    put(2, 1, 500 * MIB, 300);
    moves = Map.of(tablet(1), new ClusterSnapshot.Move(servers.get(0), Optional.empty()));
    assertThat(pass(300)).isEmpty();
    moves = Map.of();
    assertThat(pass(5)).containsExactly(tablet(1));
    assertThat(pass(60)).isEmpty(); // It was asked for.
  }
}
