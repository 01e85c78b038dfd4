package io.stele.yarn;

import io.stele.config.ClusterConfig;
import io.stele.lock.CuratorLockService;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import io.stele.wire.application.ApplicationProtos.ApplicationService;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.ApplicationConstants.Environment;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The process of the ApplicationMaster: puts its parts together. */
public final class ApplicationMasterMain {
  private static final int RPC_HANDLERS = 4;
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationMasterMain.class);

  /** Names another main class for a kind of component; for tests of the application alone. */
  static final String ENV_MAIN = "STELE_MAIN_";

  private ApplicationMasterMain() {}

  /** Runs one attempt; YARN starts it. */
  public static void main(String[] args) {
    int code = 1;
    try {
      code = run(System.getenv());
    } catch (Throwable e) { // Whatever it was: this attempt is over and the next may do better.
      LOG.error("This attempt of the ApplicationMaster failed", e);
      e.printStackTrace();
    }
    System.exit(code);
  }

  private static int run(Map<String, String> environment) throws IOException, InterruptedException {
    Configuration conf = new YarnConfiguration();
    conf.addResource(new Path("file://" + required(environment, Launch.ENV_CONF)));
    YarnSettings settings = YarnSettings.of(conf);
    ContainerId self =
        ContainerId.fromString(required(environment, Environment.CONTAINER_ID.key()));
    String applicationId = self.getApplicationAttemptId().getApplicationId().toString();
    String host = required(environment, Environment.NM_HOST.key());

    FileSystem fs = settings.root().getFileSystem(conf);
    ApplicationLayout layout = new ApplicationLayout(fs.makeQualified(settings.root()));
    Deployment deployment =
        new Deployment(
            new Path(required(environment, Launch.ENV_ARCHIVE)),
            new Path(required(environment, Launch.ENV_CONFIGURATION)));
    Launch launch =
        new HdfsWait(SystemRuntime.INSTANCE, self.getApplicationAttemptId())
            .forReading(
                "the files of this application", () -> new Launch(conf, deployment, applicationId));
    StateFile stateFile =
        new StateFile(
            conf, layout.state(settings.applicationName()), self.getApplicationAttemptId());
    try (YarnNodeManagers nodeManagers = new YarnNodeManagers(SystemRuntime.INSTANCE, conf);
        Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, host);
        LockConnection locks = locks(conf)) {
      ApplicationMaster master =
          new ApplicationMaster(
              applicationId,
              settings,
              deployment,
              listener -> new YarnResourceManager(SystemRuntime.INSTANCE, conf, settings, listener),
              new ApplicationMaster.Environment(
                  SystemRuntime.INSTANCE,
                  nodeManagers,
                  servers(settings, environment, transport, locks),
                  new Launcher(
                      launch,
                      settings,
                      layout.root(),
                      kind -> mainClass(kind, environment),
                      tokensForComponents(),
                      nodeManagers),
                  stateFile,
                  locks));
      try (Transport.Listener rpc =
              transport.serveControl(
                  0,
                  RPC_HANDLERS,
                  ApplicationProtocol.class,
                  ApplicationService.newReflectiveBlockingService(
                      new OperatorService(SystemRuntime.INSTANCE, master)));
          Transport.Listener page =
              transport.servePage(
                  0, () -> ApplicationPage.of(settings.applicationName(), master.status()))) {
        int code = master.run(host, rpc.port(), "http://" + host + ":" + page.port());
        if (code == 0) {
          fs.delete(layout.applicationDirectory(applicationId), true);
          releaseClaim(locks, applicationId);
        }
        return code;
      }
    }
  }

  private static void releaseClaim(LockConnection locks, String applicationId) {
    try {
      new ClusterClaim(locks.get()).release(applicationId);
    } catch (IOException | RuntimeException e) {
      // As the application has ended, the next one takes the cluster anyway.
      LOG.warn("Cannot remove the registration of {} for the cluster", applicationId, e);
    }
  }

  private static LockConnection locks(Configuration conf) {
    ClusterConfig cluster = ClusterConfig.of(conf);
    return new LockConnection(
        SystemRuntime.INSTANCE, () -> CuratorLockService.connect(SystemRuntime.INSTANCE, cluster));
  }

  private static Servers servers(
      YarnSettings settings,
      Map<String, String> environment,
      Transport transport,
      LockConnection locks) {
    boolean standIns =
        environment.keySet().stream().anyMatch(variable -> variable.startsWith(ENV_MAIN));
    return standIns
        ? Servers.none()
        : new SteleServers(
            SystemRuntime.INSTANCE, transport.controlPlane(), settings.limits(), locks);
  }

  private static String required(Map<String, String> environment, String name) throws IOException {
    String value = environment.get(name);
    if (value == null) {
      throw new IOException(
          "the environment has no "
              + name
              + ": YARN must start this program; use 'stele yarn start'");
    }
    return value;
  }

  private static String mainClass(ComponentKind kind, Map<String, String> environment) {
    return environment.getOrDefault(ENV_MAIN + kind.name(), kind.mainClass());
  }

  /** All that we were given but the token with which only the ApplicationMaster may ask YARN. */
  private static Credentials tokensForComponents() throws IOException {
    Credentials ours = UserGroupInformation.getCurrentUser().getCredentials();
    Credentials theirs = new Credentials();
    ours.getTokenMap()
        .forEach(
            (alias, token) -> {
              if (!token.getKind().equals(AMRMTokenIdentifier.KIND_NAME)) {
                theirs.addToken(alias, token);
              }
            });
    return theirs;
  }
}
