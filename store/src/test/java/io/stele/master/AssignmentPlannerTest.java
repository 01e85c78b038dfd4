package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.metadata.Assignment;
import io.stele.metadata.Assignment.State;
import io.stele.metadata.MetadataKeys;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AssignmentPlannerTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);
  private static final ServerId DEAD = new ServerId("dead", 1, 1);
  private static final TabletId META = new TabletId(TableId.METADATA, "00000000000000aa");
  private static final TabletId USER = new TabletId(new TableId("t1"), "00000000000000bb");

  @Test
  void rootComesFirstThenMetadataThenTheTables() {
    assertThat(plan(servers(A), none(TabletId.ROOT), none(META), none(USER)))
        .containsExactly(new Action.Assign(TabletId.ROOT, A));
    assertThat(plan(servers(A), assigned(TabletId.ROOT, A), none(META), none(USER)))
        .containsExactly(new Action.Load(TabletId.ROOT, A));
    assertThat(plan(servers(A), loaded(TabletId.ROOT, A), none(META), none(USER)))
        .containsExactly(new Action.Assign(META, A));
    assertThat(plan(servers(A), loaded(TabletId.ROOT, A), loaded(META, A), none(USER)))
        .containsExactly(new Action.Assign(USER, A));
    assertThat(plan(servers(A), loaded(TabletId.ROOT, A), loaded(META, A), loaded(USER, A)))
        .isEmpty();
  }

  @Test
  void aTabletWaitsForTheTabletOfMetadataWithItsRecordAndForNoOther() {
    TableId other = new TableId("t2");
    TabletId unserved = new TabletId(TableId.METADATA, "00000000000000ab");
    Bytes middle = MetadataKeys.row(other, Bytes.EMPTY);
    ClusterSnapshot.Tablet lower =
        new ClusterSnapshot.Tablet(
            META,
            MetadataKeys.row(TableId.METADATA, middle),
            new RowRange(Bytes.EMPTY, middle),
            Assignment.NEVER.assignedTo(A).loaded(),
            0,
            Optional.empty());
    ClusterSnapshot.Tablet upper =
        new ClusterSnapshot.Tablet(
            unserved,
            MetadataKeys.row(TableId.METADATA, Bytes.EMPTY),
            new RowRange(middle, Bytes.EMPTY),
            Assignment.NEVER.assignedTo(DEAD).loaded(),
            0,
            Optional.empty());
    assertThat(
            plan(
                servers(A),
                loaded(TabletId.ROOT, A),
                lower,
                upper,
                none(USER),
                none(new TabletId(other, "00000000000000cc"))))
        .containsExactly(new Action.Assign(USER, A));
  }

  @Test
  void aTabletOfAServerThatIsGoneWaitsUntilItIsFenced() {
    ClusterSnapshot.Tablet[] tablets = {
      loaded(TabletId.ROOT, A), loaded(META, A), loaded(USER, DEAD)
    };
    assertThat(plan(servers(A), tablets)).isEmpty();
    assertThat(
            AssignmentPlanner.plan(
                new ClusterSnapshot(servers(A), Set.of(DEAD), List.of(tablets), Set.of())))
        .containsExactly(new Action.Assign(USER, A));
    assertThat(
            AssignmentPlanner.plan(
                new ClusterSnapshot(
                    servers(A),
                    Set.of(DEAD),
                    List.of(tablets[0], tablets[1], assigned(USER, DEAD)),
                    Set.of())))
        .containsExactly(new Action.Assign(USER, A));
  }

  @Test
  void aServerThatWasFencedSinceItWasListedGetsNothing() {
    List<ClusterSnapshot.Tablet> tablets =
        List.of(loaded(TabletId.ROOT, A), loaded(META, A), loaded(USER, B));
    assertThat(
            AssignmentPlanner.plan(
                new ClusterSnapshot(servers(A, B), Set.of(B), tablets, Set.of())))
        .containsExactly(new Action.Assign(USER, A));
  }

  @Test
  void tabletsOfADroppedTableAreOnlyReleasedFromAFencedServer() {
    ClusterSnapshot.Tablet[] tablets = {
      loaded(TabletId.ROOT, A), loaded(META, A), loaded(USER, DEAD)
    };
    assertThat(
            AssignmentPlanner.plan(
                new ClusterSnapshot(
                    servers(A), Set.of(DEAD), List.of(tablets), Set.of(USER.table()))))
        .containsExactly(new Action.Release(USER, DEAD));
  }

  @Test
  void drainingServersGetNothingUnlessOnlySuchAreLeftForMetadata() {
    List<ClusterSnapshot.Server> servers =
        List.of(new ClusterSnapshot.Server(A, true), new ClusterSnapshot.Server(B, false));
    assertThat(plan(servers, loaded(TabletId.ROOT, B), loaded(META, B), none(USER)))
        .containsExactly(new Action.Assign(USER, B));
    List<ClusterSnapshot.Server> leaving = List.of(new ClusterSnapshot.Server(A, true));
    assertThat(plan(leaving, loaded(TabletId.ROOT, A), none(META), none(USER)))
        .containsExactly(new Action.Assign(META, A));
    assertThat(plan(leaving, loaded(TabletId.ROOT, A), loaded(META, A), none(USER))).isEmpty();
  }

  @Test
  void tabletsOfADroppedTableAreDiscardedAndNotAssigned() {
    ClusterSnapshot snapshot =
        new ClusterSnapshot(
            servers(A),
            Set.of(),
            List.of(
                loaded(TabletId.ROOT, A),
                loaded(META, A),
                loaded(USER, A),
                none(new TabletId(USER.table(), "00000000000000cc"))),
            Set.of(USER.table()));
    assertThat(AssignmentPlanner.plan(snapshot)).containsExactly(new Action.Discard(USER, A));
  }

  @Test
  void aNewServerGetsTheNewTablets() {
    List<ClusterSnapshot.Tablet> tablets = new ArrayList<>();
    tablets.add(loaded(TabletId.ROOT, A));
    tablets.add(loaded(META, A));
    for (int i = 0; i < 4; i++) {
      tablets.add(loaded(user(i), A));
    }
    for (int i = 4; i < 8; i++) {
      tablets.add(none(user(i)));
    }
    assertThat(
            AssignmentPlanner.plan(new ClusterSnapshot(servers(A, B), Set.of(), tablets, Set.of())))
        .allSatisfy(action -> assertThat(((Action.Assign) action).server()).isEqualTo(B))
        .hasSize(4);
  }

  @Test
  void aBigClusterThatLostATenthOfItsServersIsBackAndEvenAfterAFewRounds() {
    long seed = Seeds.one();
    Random random = new Random(seed);
    int servers = 1_000;
    int tablets = 100_000;
    List<ClusterSnapshot.Server> live = new ArrayList<>();
    Set<ServerId> fenced = new HashSet<>();
    for (int i = 0; i < servers; i++) {
      ServerId server = new ServerId("s" + i, 1, 1);
      if (i % 10 == 0) {
        fenced.add(server);
      } else {
        live.add(new ClusterSnapshot.Server(server, false));
      }
    }
    Map<TabletId, ClusterSnapshot.Tablet> state = new HashMap<>();
    put(state, loaded(TabletId.ROOT, new ServerId("s0", 1, 1)));
    put(state, loaded(META, new ServerId("s10", 1, 1)));
    for (int i = 0; i < tablets; i++) {
      ServerId on = new ServerId("s" + i % servers, 1, 1);
      put(
          state,
          tablet(
              user(i), new Assignment(State.LOADED, Optional.of(on), 1), random.nextInt(1 << 30)));
    }
    int rounds = 0;
    while (true) {
      List<Action> actions =
          AssignmentPlanner.plan(
              new ClusterSnapshot(live, fenced, List.copyOf(state.values()), Set.of()));
      if (actions.isEmpty()) {
        break;
      }
      assertThat(++rounds).as("rounds, seed %d", seed).isLessThan(20);
      for (Action action : actions) {
        ClusterSnapshot.Tablet tablet = state.get(action.tablet());
        Assignment before = tablet.assignment();
        Assignment after;
        if (action instanceof Action.Assign assign) {
          after = before.assignedTo(assign.server());
        } else if (action instanceof Action.Load) {
          after = before.loaded();
        } else {
          after = before.released();
        }
        put(state, tablet(tablet.id(), after, tablet.bytes()));
      }
    }
    Map<ServerId, Integer> counts = new HashMap<>();
    for (ClusterSnapshot.Tablet tablet : state.values()) {
      assertThat(tablet.assignment().state()).isEqualTo(State.LOADED);
      assertThat(fenced).doesNotContain(tablet.assignment().server().orElseThrow());
      counts.merge(tablet.assignment().server().orElseThrow(), 1, Integer::sum);
    }
    assertThat(counts.values()).as("seed %d", seed).allMatch(count -> count <= 113);
  }

  private static List<Action> plan(
      List<ClusterSnapshot.Server> servers, ClusterSnapshot.Tablet... tablets) {
    return AssignmentPlanner.plan(
        new ClusterSnapshot(servers, Set.of(), List.of(tablets), Set.of()));
  }

  private static List<ClusterSnapshot.Server> servers(ServerId... servers) {
    return List.of(servers).stream().map(s -> new ClusterSnapshot.Server(s, false)).toList();
  }

  private static TabletId user(int i) {
    return new TabletId(USER.table(), String.format("%016x", i));
  }

  private static void put(
      Map<TabletId, ClusterSnapshot.Tablet> state, ClusterSnapshot.Tablet tablet) {
    state.put(tablet.id(), tablet);
  }

  private static ClusterSnapshot.Tablet tablet(TabletId id, Assignment assignment, long bytes) {
    return new ClusterSnapshot.Tablet(
        id,
        MetadataKeys.row(id.table(), Bytes.EMPTY),
        RowRange.ALL,
        assignment,
        bytes,
        Optional.empty());
  }

  private static ClusterSnapshot.Tablet none(TabletId tablet) {
    return tablet(tablet, Assignment.NEVER, 0);
  }

  private static ClusterSnapshot.Tablet assigned(TabletId tablet, ServerId server) {
    return tablet(tablet, Assignment.NEVER.assignedTo(server), 0);
  }

  private static ClusterSnapshot.Tablet loaded(TabletId tablet, ServerId server) {
    return tablet(tablet, Assignment.NEVER.assignedTo(server).loaded(), 0);
  }
}
