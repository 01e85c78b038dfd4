package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.ClusterStatus;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.Address;
import io.stele.wire.ControlClient;
import io.stele.wire.ControlServer;
import io.stele.wire.control.ControlProtos.MasterService;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;

final class RollingUpgradeTest {
  private static final Deployment OURS =
      new Deployment(new Path("/a.zip"), new Path("/conf-1.xml"));
  private static final Deployment OTHER =
      new Deployment(new Path("/a.zip"), new Path("/conf-2.xml"));
  private static final ServerId FIRST = new ServerId("host", 1, 1);
  private static final ServerId SECOND = new ServerId("host", 2, 1);

  private static ApplicationStatus status(String deployment) {
    return status(deployment, List.of());
  }

  private static ApplicationStatus status(String deployment, List<ComponentStatus> components) {
    return new ApplicationStatus(
        ApplicationId.newInstance(1, 2),
        "stele",
        "RUNNING",
        "",
        "",
        true,
        false,
        0,
        deployment,
        components);
  }

  private static ApplicationStatus withServers(ComponentStatus... servers) {
    return status(OURS.files(), List.of(servers));
  }

  private static ComponentStatus server(int index, String state, int failures, boolean outdated) {
    return new ComponentStatus(
        "tabletserver-" + index, state, "c", "n", 99, "exit 1", outdated, failures, "exit 1");
  }

  /** One without a container. */
  private static ComponentStatus away(int index, String state, int failures, int restarts) {
    return new ComponentStatus(
        "tabletserver-" + index, state, "", "", restarts, "exit 1", false, failures, "exit 1");
  }

  private static RollingUpgrade upgrade() {
    return new RollingUpgrade(
        SystemRuntime.INSTANCE, () -> status(OURS.files()), id -> Optional.empty(), line -> {});
  }

  @Test
  void anUpgradeEndsWhenUpgradedServersEndAgainAndAgain() {
    RollingUpgrade upgrade = upgrade();
    upgrade.requireUpgradedRun(
        withServers(server(1, "RUNNING", 7, false), server(2, "RUNNING", 3, true)));
    // One may be an accident; and the earlier version's do not count.
    upgrade.requireUpgradedRun(
        withServers(server(1, "RUNNING", 8, false), server(2, "RUNNING", 9, true)));
    ApplicationStatus again = withServers(away(1, "WAITING", 9, 9), server(2, "RUNNING", 9, true));
    assertThatThrownBy(() -> upgrade.requireUpgradedRun(again))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
        .hasMessageContainingAll("tabletserver-1 exit 1", "earlier version");
  }

  @Test
  void anApplicationMasterThatIsReplacedIsNoProgress() {
    RollingUpgrade upgrade = upgrade();
    ComponentStatus old = in("c1");
    ApplicationStatus both = withServers(old, in("c2"));
    ApplicationStatus silent =
        new ApplicationStatus(
            both.id(), "stele", "RUNNING", "", "", false, false, 0, "", List.of());
    assertThat(upgrade.hasReplaced(both)).isFalse();
    assertThat(upgrade.hasReplaced(silent)).isFalse();
    assertThat(upgrade.hasReplaced(withServers())).isFalse();
    assertThat(upgrade.hasReplaced(both)).isFalse();
    assertThat(upgrade.hasReplaced(withServers(old))).isTrue();
    assertThat(upgrade.hasReplaced(withServers(old))).isFalse();
    assertThat(upgrade.hasReplaced(withServers(server(1, "RUNNING", 0, false)))).isTrue();
  }

  /** An outdated tablet server in the container. */
  private static ComponentStatus in(String container) {
    return new ComponentStatus("tabletserver-1", "RUNNING", container, "n", 0, "", true, 0, "");
  }

  @Test
  void theNextServerWaitsForThoseThatRanOrMayNeverComeUp() {
    RollingUpgrade upgrade = upgrade();
    ComponentStatus noRoom = away(3, "ASKED", 0, 0);
    assertThat(
            upgrade.awaited(
                withServers(server(1, "RUNNING", 0, false), server(2, "RUNNING", 0, true), noRoom)))
        .as("there was no room for the third all along")
        .isEmpty();
    ComponentStatus starting = server(1, "STARTING", 0, false);
    assertThat(upgrade.awaited(withServers(starting, server(2, "RUNNING", 0, true), noRoom)))
        .containsExactly(starting);
    ComponentStatus crashed = away(1, "WAITING", 0, 0);
    assertThat(upgrade.awaited(withServers(crashed, server(2, "RUNNING", 0, true), noRoom)))
        .containsExactly(crashed);
    ComponentStatus lost = server(2, "LOST", 0, true);
    assertThat(upgrade.awaited(withServers(server(1, "RUNNING", 0, false), lost, noRoom)))
        .containsExactly(lost);
  }

  /** As after a version that does not work: the upgrade to it had begun with the first server. */
  @Test
  void anotherUpgradeWaitsForAServerThatFailsAgainAndAgainAndGoesOnOnceItRuns() {
    ComponentStatus crashing = away(1, "WAITING", 6, 6);
    ComponentStatus earlier = server(2, "RUNNING", 0, true);
    ComponentStatus another = server(3, "RUNNING", 0, true);
    assertThat(upgrade().awaited(withServers(crashing, earlier, another)))
        .containsExactly(crashing);

    RollingUpgrade back = upgrade();
    ApplicationStatus first = withServers(crashing, earlier);
    assertThat(back.awaited(first)).containsExactly(crashing);
    back.requireUpgradedRun(first);
    ComponentStatus asked = away(1, "ASKED", 6, 6);
    assertThat(back.awaited(withServers(asked, earlier))).containsExactly(asked);
    ComponentStatus starting = server(1, "STARTING", 6, false);
    assertThat(back.awaited(withServers(starting, earlier))).containsExactly(starting);
    ApplicationStatus whole = withServers(server(1, "RUNNING", 6, false), earlier);
    assertThat(back.awaited(whole)).as("the second server's turn").isEmpty();
    back.requireUpgradedRun(whole);

    RollingUpgrade inVain = upgrade();
    inVain.requireUpgradedRun(first);
    inVain.requireUpgradedRun(withServers(away(1, "WAITING", 7, 7), earlier));
    assertThatThrownBy(
            () -> inVain.requireUpgradedRun(withServers(away(1, "WAITING", 8, 8), earlier)))
        .hasMessageContaining("do not keep running");
  }

  @Test
  void theOnlyServerThatRunsWaitsForThoseThatMayCome() {
    ComponentStatus only = server(1, "RUNNING", 0, true);
    ComponentStatus another = server(3, "RUNNING", 0, true);
    ComponentStatus ranBefore = away(2, "ASKED", 0, 1);
    assertThat(upgrade().awaited(withServers(only, ranBefore))).containsExactly(ranBefore);
    assertThat(upgrade().awaited(withServers(only, ranBefore, another))).isEmpty();

    RollingUpgrade upgrade = upgrade();
    ComponentStatus noRoom = away(2, "ASKED", 0, 0);
    assertThat(upgrade.awaited(withServers(only, noRoom))).isEmpty();
    ComponentStatus refused = away(2, "WAITING", 0, 0);
    assertThat(upgrade.awaited(withServers(only, refused))).containsExactly(refused);
    assertThat(upgrade.awaited(withServers(only, noRoom)))
        .as("YARN is asked again, and may refuse again")
        .containsExactly(noRoom);
    assertThat(upgrade.awaited(withServers(only, refused, another))).isEmpty();
  }

  private static ComponentStatus master(int index, String state, String container, boolean old) {
    return new ComponentStatus("master-" + index, state, container, "", 0, "no room", old, 0, "");
  }

  @Test
  void anUpgradeIsCompleteWithoutThoseThatHaveNeverRunForLackOfRoom() {
    ComponentStatus noRoom = away(3, "ASKED", 0, 0);
    assertThat(
            upgrade()
                .isComplete(
                    withServers(
                        master(1, "RUNNING", "m", false),
                        master(2, "WAITING", "", false),
                        server(1, "RUNNING", 0, false),
                        noRoom)))
        .isTrue();
    assertThat(upgrade().isComplete(withServers(server(1, "RUNNING", 0, false), noRoom))).isTrue();
    assertThat(upgrade().isComplete(withServers(noRoom))).as("none runs").isFalse();
    assertThat(
            upgrade()
                .isComplete(
                    withServers(server(1, "RUNNING", 0, false), server(2, "STARTING", 0, false))))
        .isFalse();
    assertThat(
            upgrade()
                .isComplete(withServers(server(1, "RUNNING", 0, false), away(2, "WAITING", 1, 1))))
        .as("it has failed, and is tried again")
        .isFalse();
    RollingUpgrade upgrade = upgrade();
    ComponentStatus server = server(1, "RUNNING", 0, false);
    assertThat(upgrade.isComplete(withServers(master(1, "RUNNING", "m", true), server))).isTrue();
    assertThat(upgrade.isComplete(withServers(master(1, "ASKED", "", false), server)))
        .as("its successor does not run yet")
        .isFalse();
  }

  @Test
  void anUpgradeThatTakesTooLongNamesWhatWaits() {
    ApplicationStatus status =
        withServers(
            master(1, "RUNNING", "m", true),
            server(1, "RUNNING", 0, false),
            away(3, "ASKED", 0, 0));
    Deadline over = Deadline.after(SystemRuntime.INSTANCE, Duration.ZERO);
    assertThatThrownBy(() -> upgrade().check(status, over, Duration.ofSeconds(7)))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
        .hasMessageContainingAll(
            "for 7 s", "master-1 is RUNNING", "tabletserver-3 is ASKED (exit 1)")
        .hasMessageNotContaining("tabletserver-1");
  }

  /** The servers of the containers c1 and c2 as the master sees them. */
  private static ClusterStatus cluster(boolean firstDrains, boolean secondDrains) {
    return new ClusterStatus(
        "host:9",
        Optional.empty(),
        List.of(inCluster(FIRST, firstDrains), inCluster(SECOND, secondDrains)),
        0,
        2,
        0,
        true,
        List.of(),
        List.of(),
        List.of());
  }

  private static ClusterStatus.Server inCluster(ServerId id, boolean draining) {
    return new ClusterStatus.Server(id, Optional.empty(), 1, 0, 0, Optional.empty(), draining);
  }

  private static ComponentStatus running(int index, boolean outdated) {
    return new ComponentStatus(
        "tabletserver-" + index, "RUNNING", "c" + index, "n", 0, "", outdated, 0, "");
  }

  @Test
  void aServerThatDrainsIsReplacedFirstAndTheOnlyOneThatTakesTabletsWaitsForAnother()
      throws Exception {
    List<String> said = new ArrayList<>();
    RollingUpgrade upgrade =
        new RollingUpgrade(
            SystemRuntime.INSTANCE,
            () -> status(OURS.files()),
            container -> Optional.of(container.equals("c1") ? FIRST : SECOND),
            said::add);
    ApplicationStatus both = withServers(running(1, true), running(2, true));
    assertThat(upgrade.next(both, cluster(false, false))).contains(FIRST);
    assertThat(upgrade.next(both, cluster(false, true))).contains(SECOND);
    assertThat(said).isEmpty();

    ApplicationStatus onlyOne = withServers(running(1, true), running(2, false));
    assertThat(upgrade.next(onlyOne, cluster(false, true))).isEmpty();
    assertThat(upgrade.next(onlyOne, cluster(false, true))).isEmpty();
    assertThat(said).hasSize(1);
    assertThat(said.get(0))
        .contains("no other server takes the tablets of host:1", "stele server drain --undo");
    assertThat(upgrade.next(onlyOne, cluster(false, false))).contains(FIRST);
    assertThat(upgrade.next(both, cluster(true, true))).as("nobody would serve").isEmpty();
  }

  @Test
  void twoServersOfWhichOneIsAwayMayBeUpgradedAndOneMayNot() {
    RollingUpgrade.requireSeveral(
        withServers(away(1, "WAITING", 3, 3), server(2, "RUNNING", 0, true)));
    assertThatThrownBy(
            () -> RollingUpgrade.requireSeveral(withServers(server(1, "RUNNING", 0, true))))
        .hasMessageContaining("only one tablet server");
  }

  @Test
  void anUpgradeEndsWhenAnotherHasTakenItsPlace() {
    RollingUpgrade.requireLatest(OURS, status(OURS.files()));
    RollingUpgrade.requireLatest(OURS, status("")); // Nobody says what is deployed.
    assertThatThrownBy(() -> RollingUpgrade.requireLatest(OURS, status(OTHER.files())))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContainingAll("application_1_0002", "another upgrade", "/conf-2.xml");
  }

  /** Its service has none of the methods, as an old one lacks some. */
  @Test
  void anApplicationMasterThatIsTooOldIsSaidToBe() throws Exception {
    Configuration conf = new Configuration(false);
    MasterService.BlockingInterface nothing =
        (MasterService.BlockingInterface)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {MasterService.BlockingInterface.class},
                (proxy, method, arguments) -> {
                  throw new UnsupportedOperationException(method.getName());
                });
    try (ControlServer server =
            ControlServer.start(
                conf,
                new Address("localhost", 0),
                1,
                ApplicationProtocol.class,
                MasterService.newReflectiveBlockingService(nothing));
        ControlClient<ApplicationProtocol> master =
            ControlClient.connect(
                conf,
                new Address("localhost", server.port()),
                ApplicationProtocol.class,
                Duration.ofSeconds(60))) {
      assertThatThrownBy(() -> RollingUpgrade.begin(master, OURS, "application_1_0002"))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContainingAll("application_1_0002", "'stele yarn stop'", "'stele yarn start'");
    }
  }
}
