package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import io.stele.wire.Address;
import io.stele.wire.ControlClient;
import io.stele.wire.ControlServer;
import io.stele.wire.control.ControlProtos.MasterService;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;

final class RollingUpgradeTest {
  private static final Deployment OURS =
      new Deployment(new Path("/a.zip"), new Path("/conf-1.xml"));
  private static final Deployment OTHER =
      new Deployment(new Path("/a.zip"), new Path("/conf-2.xml"));

  private static ApplicationStatus status(String deployment) {
    return new ApplicationStatus(
        ApplicationId.newInstance(1, 2),
        "stele",
        "RUNNING",
        "",
        "",
        true,
        false,
        deployment,
        List.of());
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
