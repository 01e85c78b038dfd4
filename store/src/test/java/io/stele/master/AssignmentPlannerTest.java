package io.stele.master;

import static io.stele.master.AssignmentStep.Kind.ASSIGN;
import static io.stele.master.AssignmentStep.Kind.DISCARD;
import static io.stele.master.AssignmentStep.Kind.LOAD;
import static io.stele.master.AssignmentStep.Kind.RELEASE;
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
import io.stele.wire.HostShare;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
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
        .containsExactly(new AssignmentStep(ASSIGN, TabletId.ROOT, A));
    assertThat(plan(servers(A), assigned(TabletId.ROOT, A), none(META), none(USER)))
        .containsExactly(new AssignmentStep(LOAD, TabletId.ROOT, A));
    assertThat(plan(servers(A), loaded(TabletId.ROOT, A), none(META), none(USER)))
        .containsExactly(new AssignmentStep(ASSIGN, META, A));
    assertThat(plan(servers(A), loaded(TabletId.ROOT, A), loaded(META, A), none(USER)))
        .containsExactly(new AssignmentStep(ASSIGN, USER, A));
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
        .containsExactly(new AssignmentStep(ASSIGN, USER, A));
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
        .containsExactly(new AssignmentStep(ASSIGN, USER, A));
    assertThat(
            AssignmentPlanner.plan(
                new ClusterSnapshot(
                    servers(A),
                    Set.of(DEAD),
                    List.of(tablets[0], tablets[1], assigned(USER, DEAD)),
                    Set.of())))
        .containsExactly(new AssignmentStep(ASSIGN, USER, A));
  }

  @Test
  void aServerThatWasFencedSinceItWasListedGetsNothing() {
    List<ClusterSnapshot.Tablet> tablets =
        List.of(loaded(TabletId.ROOT, A), loaded(META, A), loaded(USER, B));
    assertThat(
            AssignmentPlanner.plan(
                new ClusterSnapshot(servers(A, B), Set.of(B), tablets, Set.of())))
        .containsExactly(new AssignmentStep(ASSIGN, USER, A));
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
        .containsExactly(new AssignmentStep(RELEASE, USER, DEAD));
  }

  @Test
  void drainingServersGetNothingUnlessOnlySuchAreLeftForMetadata() {
    List<ClusterSnapshot.Server> servers =
        List.of(new ClusterSnapshot.Server(A, true), new ClusterSnapshot.Server(B, false));
    assertThat(plan(servers, loaded(TabletId.ROOT, B), loaded(META, B), none(USER)))
        .containsExactly(new AssignmentStep(ASSIGN, USER, B));
    List<ClusterSnapshot.Server> leaving = List.of(new ClusterSnapshot.Server(A, true));
    assertThat(plan(leaving, loaded(TabletId.ROOT, A), none(META), none(USER)))
        .containsExactly(new AssignmentStep(ASSIGN, META, A));
    assertThat(plan(leaving, loaded(TabletId.ROOT, A), loaded(META, A), none(USER))).isEmpty();
  }

  @Test
  void aServerThatDoesNotAnswerGetsMetadataOnlyIfThereIsNoOther() {
    ClusterSnapshot.Server silent =
        new ClusterSnapshot.Server(B, ClusterSnapshot.Takes.LAST_RESORT, false, 0, 0);
    ClusterSnapshot.Tablet busy = loaded(USER, A); // The silent one is the lighter.
    assertThat(
            plan(List.of(new ClusterSnapshot.Server(A, true), silent), none(TabletId.ROOT), busy))
        .containsExactly(new AssignmentStep(ASSIGN, TabletId.ROOT, A));
    assertThat(plan(List.of(silent), none(TabletId.ROOT), none(USER)))
        .containsExactly(new AssignmentStep(ASSIGN, TabletId.ROOT, B));
  }

  @Test
  void metadataGoesToAServerThatMayHaveJustFallenSilentOnlyIfThereIsNoOther() {
    ClusterSnapshot.Server doubtful =
        new ClusterSnapshot.Server(B, ClusterSnapshot.Takes.ALL, true, 0, 0);
    ClusterSnapshot.Tablet busy = loaded(USER, A); // The doubtful one is the lighter.
    List<ClusterSnapshot.Server> both = List.of(new ClusterSnapshot.Server(A, false), doubtful);
    assertThat(plan(both, none(TabletId.ROOT), busy))
        .containsExactly(new AssignmentStep(ASSIGN, TabletId.ROOT, A));
    assertThat(plan(both, loaded(TabletId.ROOT, A), none(META), busy))
        .containsExactly(new AssignmentStep(ASSIGN, META, A));
    assertThat(plan(both, loaded(TabletId.ROOT, A), loaded(META, A), none(USER)))
        .containsExactly(new AssignmentStep(ASSIGN, USER, B));
    assertThat(plan(List.of(doubtful), none(TabletId.ROOT)))
        .containsExactly(new AssignmentStep(ASSIGN, TabletId.ROOT, B));
  }

  @Test
  void aServerThatMayHaveJustFallenSilentIsBetterThanOneThatCouldNotLoadTheTablet() {
    List<ClusterSnapshot.Server> both =
        List.of(
            new ClusterSnapshot.Server(A, false),
            new ClusterSnapshot.Server(B, ClusterSnapshot.Takes.ALL, true, 5, 0));
    ClusterSnapshot.Tablet failed =
        new ClusterSnapshot.Tablet(
            META,
            MetadataKeys.row(META.table(), Bytes.EMPTY),
            RowRange.ALL,
            Assignment.NEVER,
            0,
            Optional.of(A));
    assertThat(plan(both, loaded(TabletId.ROOT, A), failed))
        .containsExactly(new AssignmentStep(ASSIGN, META, B));
  }

  @Test
  void metadataDoesNotMoveToAServerThatMayHaveJustFallenSilent() {
    ClusterSnapshot.Server doubtful =
        new ClusterSnapshot.Server(B, ClusterSnapshot.Takes.ALL, true, 0, 0);
    ClusterSnapshot snapshot =
        new ClusterSnapshot(
            List.of(new ClusterSnapshot.Server(A, false), doubtful),
            Set.of(),
            List.of(loaded(TabletId.ROOT, A), none(META)),
            Set.of(),
            Map.of(META, new ClusterSnapshot.Move(DEAD, Optional.of(B))));
    assertThat(AssignmentPlanner.plan(snapshot))
        .containsExactly(new AssignmentStep(ASSIGN, META, A));
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
    assertThat(AssignmentPlanner.plan(snapshot))
        .containsExactly(new AssignmentStep(DISCARD, USER, A));
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
        .allSatisfy(action -> assertThat(action.server()).isEqualTo(B))
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
      List<AssignmentStep> actions =
          AssignmentPlanner.plan(
              new ClusterSnapshot(live, fenced, List.copyOf(state.values()), Set.of()));
      if (actions.isEmpty()) {
        break;
      }
      assertThat(++rounds).as("rounds, seed %d", seed).isLessThan(20);
      for (AssignmentStep action : actions) {
        ClusterSnapshot.Tablet tablet = state.get(action.tablet());
        Assignment before = tablet.assignment();
        Assignment after;
        if (action.kind() == ASSIGN) {
          after = before.assignedTo(action.server());
        } else if (action.kind() == LOAD) {
          after = before.loaded();
        } else {
          after = before.released();
        }
        put(state, tablet(tablet.id(), after, tablet.bytes()));
      }
    }
    for (ClusterSnapshot.Tablet tablet : state.values()) {
      assertThat(tablet.assignment().state()).isEqualTo(State.LOADED);
      assertThat(fenced).doesNotContain(tablet.assignment().server().orElseThrow());
    }
    assertThat(weights(state.values()).values())
        .as("seed %d", seed)
        .hasSize(live.size())
        .allMatch(weight -> weight <= 1.03);
  }

  /** Number and bytes of what servers have, each beside that of the average server with tablets. */
  private static Map<ServerId, Double> weights(Collection<ClusterSnapshot.Tablet> tablets) {
    Map<ServerId, List<ClusterSnapshot.Tablet>> byServer =
        tablets.stream()
            .collect(Collectors.groupingBy(tablet -> tablet.assignment().server().orElseThrow()));
    double all = tablets.stream().mapToLong(ClusterSnapshot.Tablet::bytes).sum();
    Map<ServerId, Double> weights = new HashMap<>();
    byServer.forEach(
        (server, has) -> {
          double number = has.size() / (double) tablets.size();
          double bytes = has.stream().mapToLong(ClusterSnapshot.Tablet::bytes).sum() / all;
          weights.put(server, byServer.size() * (number + bytes) / 2);
        });
    return weights;
  }

  private static ClusterSnapshot.Tablet on(TabletId id, long bytes, String... localHosts) {
    List<HostShare> shares = new ArrayList<>();
    for (String host : localHosts) {
      shares.add(new HostShare(host, 90 - 20 * shares.size()));
    }
    return new ClusterSnapshot.Tablet(
        id,
        MetadataKeys.row(id.table(), Bytes.EMPTY),
        RowRange.ALL,
        Assignment.NEVER,
        bytes,
        Optional.empty(),
        shares);
  }

  /** The plan of a cluster that serves METADATA, which has no weight. */
  private static Map<TabletId, ServerId> places(
      List<ClusterSnapshot.Server> servers, List<ClusterSnapshot.Tablet> free) {
    List<ClusterSnapshot.Tablet> all = new ArrayList<>(free);
    all.add(loaded(TabletId.ROOT, servers.get(0).id()));
    all.add(loaded(META, servers.get(servers.size() - 1).id()));
    Map<TabletId, ServerId> places = new HashMap<>();
    for (AssignmentStep action :
        AssignmentPlanner.plan(new ClusterSnapshot(servers, Set.of(), all, Set.of()))) {
      places.put(action.tablet(), action.server());
    }
    return places;
  }

  @Test
  void tabletsGoToTheServersOnWhoseHostsTheirBytesLie() {
    List<ClusterSnapshot.Tablet> free =
        List.of(
            on(user(1), 10 << 20, "c"),
            on(user(2), 10 << 20, "elsewhere", "b"),
            on(user(3), 10 << 20, "a", "b"),
            on(user(4), 10 << 20));
    assertThat(places(servers(A, B, new ServerId("C", 1, 1), new ServerId("d", 1, 1)), free))
        .containsEntry(user(1), new ServerId("C", 1, 1))
        .containsEntry(user(2), B)
        .containsEntry(user(3), A)
        .containsEntry(user(4), new ServerId("d", 1, 1));
  }

  @Test
  void hostsWithoutServersAndOtherDomainsCountForNothing() {
    List<ClusterSnapshot.Tablet> free =
        List.of(
            on(user(1), 10 << 20, "b.other.example", "b.rack"), on(user(2), 10 << 20, "localhost"));
    assertThat(places(servers(A, new ServerId("b.example", 1, 1)), free).values())
        .containsExactlyInAnyOrder(A, new ServerId("b.example", 1, 1));
  }

  @Test
  void severalServersOfAHostShareWhatLiesThere() {
    ServerId second = new ServerId("a", 2, 1);
    List<ClusterSnapshot.Tablet> free = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      free.add(on(user(i), 64 << 20, i < 20 ? "a" : "b"));
    }
    Map<TabletId, ServerId> places = places(servers(A, second, B, new ServerId("b", 2, 1)), free);
    assertThat(places).allSatisfy((id, server) -> assertThat(server.host()).isEqualTo(home(id)));
    assertThat(places.values()).filteredOn(A::equals).hasSizeBetween(9, 11);
  }

  private static String home(TabletId id) {
    return Long.parseLong(id.name(), 16) < 20 ? "a" : "b";
  }

  @Test
  void aTabletThatCouldNotBeLoadedWhereItsBytesLieGoesElsewhere() {
    ClusterSnapshot.Tablet before = on(user(1), 10 << 20, "a");
    ClusterSnapshot.Tablet failed =
        new ClusterSnapshot.Tablet(
            before.id(),
            before.row(),
            before.extent(),
            before.assignment(),
            before.bytes(),
            Optional.of(A),
            before.localHosts());
    assertThat(places(servers(A, B), List.of(failed))).containsEntry(user(1), B);
  }

  @Test
  void afterARestartOfTheWholeClusterNearlyAllTabletsAreBackOnTheirHostsAndEven() {
    long seed = Seeds.one();
    Random random = new Random(seed);
    List<ClusterSnapshot.Server> live = new ArrayList<>();
    List<ClusterSnapshot.Tablet> free = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      live.add(new ClusterSnapshot.Server(new ServerId("s" + i, 1, 2), false));
      for (int j = 0; j < 96 + random.nextInt(9); j++) { // As even as a balanced cluster.
        free.add(on(user(free.size()), (64 + random.nextInt(64)) << 20, "s" + i));
      }
    }
    Map<TabletId, ServerId> places = places(live, free);
    long back =
        free.stream()
            .filter(one -> places.get(one.id()).host().equals(one.localHosts().get(0).host()))
            .count();
    assertThat(back / (double) free.size()).as("seed %d", seed).isGreaterThan(0.97);
    assertNothingIsToBeBalanced(live, free, places);
  }

  @Test
  void aServerWithoutLocalBytesHasItsShareAfterARestartToo() {
    List<ClusterSnapshot.Server> live = new ArrayList<>();
    List<ClusterSnapshot.Tablet> free = new ArrayList<>();
    for (int i = 0; i < 11; i++) {
      live.add(new ClusterSnapshot.Server(new ServerId("s" + i, 1, 2), false));
    }
    for (int i = 0; i < 1_000; i++) {
      free.add(on(user(i), 64 << 20, "s" + i % 10));
    }
    assertNothingIsToBeBalanced(live, free, places(live, free));
  }

  @Test
  void howeverFewTabletsThereAreNoneIsToBeMovedAgain() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      int servers = 2 + random.nextInt(6);
      List<ClusterSnapshot.Server> live = new ArrayList<>();
      for (int i = 0; i < servers; i++) {
        live.add(new ClusterSnapshot.Server(new ServerId("s" + i, 1, 2), false));
      }
      List<ClusterSnapshot.Tablet> free = new ArrayList<>();
      int tablets = random.nextInt(40);
      for (int i = 0; i < tablets; i++) {
        free.add(on(user(i), 64 << 20, "s" + random.nextInt(servers), "s0"));
      }
      assertNothingIsToBeBalanced(live, free, places(live, free));
    }
  }

  /** Each tablet is of a table of its own, so that only weights count. */
  private static void assertNothingIsToBeBalanced(
      List<ClusterSnapshot.Server> live,
      List<ClusterSnapshot.Tablet> tablets,
      Map<TabletId, ServerId> places) {
    ServerLoads loads = new ServerLoads();
    int table = 0;
    for (ClusterSnapshot.Tablet tablet : tablets) {
      TabletId id = new TabletId(new TableId("t" + ++table), tablet.id().name());
      Assignment to = Assignment.NEVER.assignedTo(Objects.requireNonNull(places.get(tablet.id())));
      loads.put(id, to.loaded(), tablet.bytes());
    }
    Balancer.Cluster cluster =
        new ClusterSnapshot(live, Set.of(), List.of(), Set.of()).toBalance(Set.of(), 0);
    assertThat(
            Balancer.decide(
                loads,
                cluster,
                Balancer.Limits.of(loads, live.size(), BalanceSchedule.SLACK, Set.of())))
        .isEmpty();
  }

  private static List<AssignmentStep> plan(
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
