package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.ServerId;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RefreshReadsTest {
  private static final ServerId A = new ServerId("a", 1, 1);

  private final MasterFixture master = new MasterFixture();
  private int reads;

  private void count(String method) {
    if (method.equals("read") || method.equals("children")) {
      reads++;
    }
  }

  /** How often the loop reads schemas and names in one refresh, when all is at rest. */
  private int readsOfARefresh(MasterLoop loop) throws Exception {
    for (int i = 0; i < 3; i++) {
      master.sleep(Duration.ofSeconds(30));
      reads = 0;
      loop.step();
    }
    return reads;
  }

  private void makeTables(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      master.table("table" + i);
    }
  }

  @Test
  void aRefreshReadsNoMoreFromTheLockServiceWhenThereAreMoreTables() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          MasterLoop loop = master.loop(master.watched(this::count));
          makeTables(0, 50);
          int before = readsOfARefresh(loop);
          assertThat(before).isLessThan(50);
          makeTables(50, 100);
          master.signal.rereadAllSoon();
          assertThat(readsOfARefresh(loop)).isEqualTo(before);
          assertThat(loop.view().tablets()).as("all were looked at").hasSize(102);
        });
  }

  @Test
  void nodesAtRestAreReadInTurnAndOthersEachTime() {
    AtRest<Integer> nodes = new AtRest<>(2);
    Set<Integer> all = new TreeSet<>(Set.of(1, 2, 3, 4, 5));
    assertThat(nodes.choose(all)).containsExactly(1, 2, 3, 4, 5);
    all.forEach(nodes::rests);
    assertThat(nodes.choose(all)).containsExactly(1, 2);
    assertThat(nodes.choose(all)).containsExactly(3, 4);
    assertThat(nodes.choose(all)).containsExactly(5, 1);
    nodes.moves(4);
    all.remove(2);
    assertThat(nodes.choose(all)).containsExactly(4, 3, 5);
    nodes.rests(4);
    assertThat(nodes.choose(all)).containsExactly(1, 3);
    all.clear();
    assertThat(nodes.choose(all)).isEmpty();
  }

  @Test
  void aDropThatAnotherMasterBeganIsFoundAlthoughTheTableWasAtRest() throws Exception {
    master.run(
        () -> {
          makeTables(0, 40);
          TableChanges another =
              new TableChanges(master.process, master.schemas, master.steps(), master.signal);
          another.resume();
          master.sleep(Duration.ofSeconds(30));
          another.resume();
          assertThat(another.running()).isEmpty();
          master.drop("table17");
          for (int i = 0; i < 5; i++) {
            master.sleep(Duration.ofSeconds(30));
            another.resume();
          }
          assertThat(another.running())
              .singleElement()
              .satisfies(change -> assertThat(change.name()).isEqualTo("table17"));
        });
  }
}
