package io.stele.yarn;

import java.io.IOException;
import java.util.Map;
import java.util.function.Function;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.yarn.api.records.Container;

/** Starts our processes in containers. Calls block; safe for use by several threads. */
final class Launcher implements ApplicationMaster.Starter {
  private final YarnSettings settings;
  private final Function<ComponentKind, String> mainClass;
  private final Credentials tokens;
  private final YarnNodeManagers nodeManagers;

  /** Of the latest deployment: the files of one are looked up once. */
  private volatile Launch latest;

  /**
   * @param submitted with what the application was submitted with
   * @param mainClass which class a container of the kind runs
   * @param tokens what our processes may use of other services
   */
  Launcher(
      Launch submitted,
      YarnSettings settings,
      Function<ComponentKind, String> mainClass,
      Credentials tokens,
      YarnNodeManagers nodeManagers) {
    this.latest = submitted;
    this.settings = settings;
    this.mainClass = mainClass;
    this.tokens = tokens;
    this.nodeManagers = nodeManagers;
  }

  @Override
  public void check(Deployment deployment) throws IOException {
    latest.of(deployment); // Its files are there.
    settings.requireSameProcesses(YarnSettings.of(deployment.read()));
  }

  @Override
  public void start(SlotId slot, Container container, Deployment deployment) throws IOException {
    Launch launch = latest.of(deployment);
    latest = launch;
    nodeManagers.start(
        container,
        launch.context(
            mainClass.apply(slot.kind()),
            settings.of(slot.kind()).process().in(container.getResource().getMemorySize()),
            Map.of(Launch.ENV_COMPONENT, slot.toString()),
            tokens));
  }
}
