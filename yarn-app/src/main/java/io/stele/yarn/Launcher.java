package io.stele.yarn;

import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.Map;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.yarn.api.records.Container;

/** Starts our processes in containers. Calls block; safe for use by several threads. */
final class Launcher implements ApplicationMaster.Starter {
  private final YarnSettings settings;
  private final Path root;
  private final Function<ComponentKind, String> mainClass;
  private final Credentials tokens;
  private final YarnNodeManagers nodeManagers;

  /** The launch of the latest deployment: the files of one are looked up once. */
  private volatile Launch latest;

  /**
   * @param submitted with what the application was submitted with
   * @param root the directory of all data, absolute
   * @param mainClass which class a container of the kind runs
   * @param tokens what our processes may use of other services
   */
  Launcher(
      Launch submitted,
      YarnSettings settings,
      Path root,
      Function<ComponentKind, String> mainClass,
      Credentials tokens,
      YarnNodeManagers nodeManagers) {
    this.latest = submitted;
    this.settings = settings;
    this.root = root;
    this.mainClass = mainClass;
    this.tokens = tokens;
    this.nodeManagers = nodeManagers;
  }

  @Override
  public void check(Deployment deployment) throws IOException {
    latest.of(deployment); // Its files are there.
    Configuration next = deployment.read();
    requireSameRoot(next);
    YarnSettings others = YarnSettings.of(next);
    settings.requireSameLockService(others);
    settings.requireSameProcesses(others);
  }

  /** Processes with another directory would serve other data under the same locks. */
  private void requireSameRoot(Configuration next) throws IOException {
    Path theirs = ClusterConfig.of(next).root();
    Path qualified = theirs.getFileSystem(next).makeQualified(theirs);
    if (!qualified.equals(root)) {
      throw SteleException.refused(
          "the data of this application is under "
              + root
              + ", not under "
              + qualified
              + ": leave "
              + Keys.ROOT_DIR.name()
              + " as it was");
    }
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
