package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.ControlClient;
import io.stele.wire.application.ApplicationProtos.FlexRequestProto;
import io.stele.wire.application.ApplicationProtos.StopRequestProto;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts, watches and stops Stele on YARN. One application a cluster, which is a name in a lock
 * service and a root directory: another cluster's application is never touched, whatever its name.
 *
 * <p>Methods block, and throw {@link SteleException} for what is wrong or not there and {@link
 * IOException} for failed I/O; interruption ends the wait with an {@link InterruptedIOException}
 * and leaves the application as it is. For use by one thread.
 */
public final class YarnSubmitter implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(YarnSubmitter.class);
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;
  private static final Duration RESOURCE_MANAGER_PATIENCE = Duration.ofSeconds(30);

  /** Whoever stops an application waits no longer than this for HDFS to tell how that went. */
  private static final Duration STATE_PATIENCE = Duration.ofSeconds(10);

  /** Failures of the ApplicationMaster further apart than this do not count together. */
  private static final Duration ATTEMPTS_WINDOW = Duration.ofMinutes(5);

  /** What we ask for; YARN allows at most its own {@code yarn.resourcemanager.am.max-attempts}. */
  private static final int ATTEMPTS_MAX = 100;

  private final Configuration conf;
  private final YarnSettings settings;
  private final YarnClient client;
  private final ClusterApplications applications;
  private final ApplicationAsker asker;

  private YarnSubmitter(
      Configuration conf,
      YarnSettings settings,
      YarnClient client,
      ClusterApplications applications) {
    this.conf = conf;
    this.settings = settings;
    this.client = client;
    this.applications = applications;
    this.asker = new ApplicationAsker(conf, settings.applicationName(), client);
  }

  /**
   * Connects to the ResourceManager that {@code conf} names.
   *
   * @throws SteleException REFUSED for a wrong {@code stele.*} key or value; RETRY_LATER, within
   *     seconds, when no ResourceManager answers
   */
  public static YarnSubmitter connect(Configuration conf) throws IOException {
    YarnSettings settings = YarnSettings.of(conf);
    YarnClient client = client(conf);
    return new YarnSubmitter(
        conf, settings, client, new ClusterApplications(RUNTIME, client, conf));
  }

  /**
   * A client of the ResourceManager that {@code conf} names.
   *
   * @throws SteleException RETRY_LATER, within seconds, when none answers
   */
  static YarnClient client(Configuration conf) {
    Configuration yarn = new YarnConfiguration(conf);
    Preflight.resourceManagerAnswers(yarn);
    return ResourceManagerClient.start(yarn, RESOURCE_MANAGER_PATIENCE);
  }

  /**
   * Starts the application and waits until every component runs and a master answers: {@link
   * #begin} and {@link #awaitServing}.
   *
   * @param progress gets a line of text for each thing that happens
   */
  public ApplicationId start(StartOptions options, Consumer<String> progress) throws IOException {
    ApplicationId id = begin(options, progress);
    awaitServing(id, options, progress);
    return id;
  }

  /**
   * Submits the application, and waits for nothing. If the cluster has one of which no master
   * answers yet, that one is returned, with the jars and the configuration of its own start.
   *
   * @param progress gets a line of text for each thing that happens
   * @throws SteleException REFUSED when it runs already (with the id of the application that has
   *     the cluster), Hadoop asks for Kerberos, the queue does not exist, YARN never gives a
   *     container of the size, or this user may not write to the root directory
   */
  public ApplicationId begin(StartOptions options, Consumer<String> progress) throws IOException {
    Preflight.noKerberos();
    Optional<ApplicationId> starting = starting(options);
    if (starting.isPresent()) {
      progress.accept(
          starting.get()
              + " has been submitted already, and no master of it answers yet: waiting for it, with"
              + " the settings of that start");
      return starting.get();
    }
    applications.requireNone();
    Preflight.attemptsWarning(conf, ATTEMPTS_WINDOW).ifPresent(progress);
    Preflight.hadoopWarning(VersionInfo.getVersion()).ifPresent(progress);
    return submit(options, progress);
  }

  /** The cluster's application, if no master answers and it is not being stopped. */
  private Optional<ApplicationId> starting(StartOptions options) throws IOException {
    Optional<ApplicationReport> running = applications.running();
    if (running.isEmpty() || asker.statusOf(running.get()).stopping()) {
      return Optional.empty();
    }
    try (MasterProbe probe = new MasterProbe(RUNTIME, conf)) {
      return missingMaster(options, probe).call().map(missing -> running.get().getApplicationId());
    }
  }

  private ApplicationId submit(StartOptions options, Consumer<String> progress) throws IOException {
    try {
      Preflight.queueTakesApplications(client, settings.queue());
      YarnClientApplication application = client.createApplication();
      Preflight.containersFit(
          settings, application.getNewApplicationResponse().getMaximumResourceCapability());
      ApplicationSubmissionContext context = application.getApplicationSubmissionContext();
      ApplicationId id = context.getApplicationId();

      Configuration shipped = ShippedConfiguration.of(conf);
      Preflight.rootIsWritable(settings.root().getFileSystem(conf), layout());
      Deployment deployment =
          Deployment.upload(options.jars(), shipped, layout(), id.toString(), progress);
      Launch launch = new Launch(shipped, deployment, id.toString());
      Map<String, String> environment = new HashMap<>(options.mainClasses());
      environment.put(Launch.ENV_ARCHIVE, deployment.archive().toString());
      environment.put(Launch.ENV_CONFIGURATION, deployment.configuration().toString());
      context.setApplicationName(settings.applicationName());
      context.setApplicationType(ClusterApplications.TYPE);
      context.setApplicationTags(Set.of(applications.tag()));
      context.setQueue(settings.queue());
      context.setResource(
          Resource.newInstance(settings.master().memoryMb(), settings.master().vcores()));
      context.setMaxAppAttempts(ATTEMPTS_MAX);
      context.setAttemptFailuresValidityInterval(ATTEMPTS_WINDOW.toMillis());
      context.setKeepContainersAcrossApplicationAttempts(true);
      context.setAMContainerSpec(
          launch.context(
              ApplicationMasterMain.class.getName(),
              settings.master(),
              environment,
              new Credentials()));
      client.submitApplication(context);
      progress.accept("submitted " + id + " to queue " + settings.queue());
      sweep(shipped, deployment, id);
      return id;
    } catch (YarnException e) {
      throw new SteleException(
          SteleException.Code.REFUSED, "YARN refuses the application: " + e.getMessage(), e);
    }
  }

  /** What cannot be deleted now is left to the next start. */
  private void sweep(Configuration shipped, Deployment deployment, ApplicationId id) {
    try {
      ApplicationLayout layout = layout();
      new ApplicationSweep(layout.root().getFileSystem(shipped), layout, RUNTIME.wallClock())
          .sweep(id.toString(), deployment, applications::fateOf);
    } catch (IOException | RuntimeException e) {
      LOG.warn("Cannot delete what earlier applications have left", e);
    }
  }

  private ApplicationLayout layout() throws IOException {
    return new ApplicationLayout(
        settings.root().getFileSystem(conf).makeQualified(settings.root()));
  }

  /**
   * Waits until every component of the application runs and a master answers.
   *
   * @param progress gets a line of text for each thing that happens
   * @throws SteleException REFUSED when another start was faster, or the application gave up (with
   *     the last words of what failed); RETRY_LATER when the time is up: it stays submitted
   */
  public void awaitServing(ApplicationId id, StartOptions options, Consumer<String> progress)
      throws IOException {
    try (MasterProbe probe = new MasterProbe(RUNTIME, conf)) {
      new Startup(RUNTIME, () -> asker.statusIfKnown(id), missingMaster(options, probe), progress)
          .await(options.timeout());
    }
  }

  /** Says why no master answers; a stand-in counts as one that does. */
  private static IoCallable<Optional<String>> missingMaster(
      StartOptions options, MasterProbe probe) {
    return options.hasStandIn(ComponentKind.MASTER) ? Optional::empty : probe::missing;
  }

  /**
   * The application that last had this cluster, if it has ended otherwise than by {@link #stop};
   * empty also if YARN has forgotten it, or the lock service does not answer.
   */
  public Optional<ApplicationStatus> ended() {
    try {
      return applications
          .lastHolder()
          .filter(report -> ClusterClaim.Fate.of(report) == ClusterClaim.Fate.ENDED)
          .map(asker::statusOf);
    } catch (IOException e) {
      LOG.debug("ZooKeeper does not say who had the cluster", e); // Said before.
      return Optional.empty();
    }
  }

  /** The running application of this cluster; empty when none runs. */
  public Optional<ApplicationStatus> status() throws IOException {
    Optional<ApplicationReport> running = applications.running();
    return running.isPresent() ? Optional.of(asker.statusOf(running.get())) : Optional.empty();
  }

  /**
   * One of our applications, running or ended.
   *
   * @throws SteleException NOT_FOUND when YARN does not know it
   */
  public ApplicationStatus status(ApplicationId id) throws IOException {
    return asker.statusOf(asker.report(id));
  }

  /**
   * Whether an ApplicationMaster of the application has run, so servers of it may run; true too if
   * that is not known.
   *
   * @throws SteleException NOT_FOUND when YARN does not know it
   */
  public boolean hasBegun(ApplicationId id) throws IOException {
    ApplicationReport report = asker.report(id);
    return report.getYarnApplicationState() == YarnApplicationState.RUNNING || !neverRan(report);
  }

  /**
   * Changes how many components of a kind are kept running; does not wait for them. The number
   * holds until the application is stopped.
   *
   * @param component {@code master} or {@code tabletserver}
   * @throws SteleException NOT_FOUND when none runs, REFUSED for another component or number, or
   *     when it is being stopped; RETRY_LATER or OUTCOME_UNKNOWN if its ApplicationMaster does not
   *     answer
   */
  public void flex(String component, int count) throws IOException {
    ComponentKind kind = ComponentKind.parse(component);
    int least = kind == ComponentKind.MASTER ? 1 : 0;
    if (count < least || count > 100_000) {
      throw SteleException.refused(
          "the number of " + component + "s is " + least + " to 100000, not " + count);
    }
    FlexRequestProto request =
        FlexRequestProto.newBuilder().setKind(kind.id()).setCount(count).build();
    ApplicationReport running = requireRunning();
    try {
      asker.call(running, service -> service.flex(null, request));
    } catch (IOException e) {
      throw ApplicationAsker.unanswered(running, e);
    }
  }

  private ApplicationReport requireRunning() throws IOException {
    return applications
        .running()
        .orElseThrow(
            () ->
                SteleException.notFound("no " + settings.applicationName() + " runs on this YARN"));
  }

  /**
   * Replaces all servers, one after another, by those of these jars with this configuration. No
   * request fails: a tablet server gives its tablets away first, and the next one is touched when
   * another has taken its place and all tablets are served. Masters come last. The
   * ApplicationMaster stays, and with it what it has read of the configuration at its start: the
   * queue, and the size, the Java options and the number of its processes. So a configuration for
   * processes of another size is refused.
   *
   * <p>From its beginning on, whatever starts is new, whether or not this ends. Called again with
   * the same jars and configuration, it goes on where it was. To go back, call it with the earlier
   * ones.
   *
   * @param options of which the timeout is for each process
   * @param progress gets a line of text for each thing that happens
   * @throws SteleException NOT_FOUND when none runs; REFUSED when there is only one tablet server,
   *     processes cannot be started so, or the ApplicationMaster is of a version that cannot
   *     upgrade processes, with nothing changed; REFUSED as well when another upgrade to other jars
   *     or another configuration has begun since, which then holds; RETRY_LATER when a process is
   *     not replaced in time
   */
  public void upgrade(StartOptions options, Consumer<String> progress) throws IOException {
    ApplicationReport running = requireRunning();
    ApplicationId id = running.getApplicationId();
    RollingUpgrade.requireSeveral(asker.statusOf(running));
    Deployment deployment =
        Deployment.upload(
            options.jars(), ShippedConfiguration.of(conf), layout(), id.toString(), progress);
    try (ControlClient<ApplicationProtocol> master = asker.masterOf(running)) {
      RollingUpgrade.begin(master, deployment, id.toString());
    } catch (IOException e) {
      throw ApplicationAsker.unanswered(running, e);
    }
    new RollingUpgrade(RUNTIME, () -> asker.statusIfKnown(id), applications::serverIn, progress)
        .run(conf, deployment, options.timeout());
  }

  /**
   * Stops the application in order: the masters, so that nothing is moved any more; the tablet
   * servers, which write out what they have, those with METADATA last; the ApplicationMaster. Waits
   * for it.
   *
   * @param timeout servers may take most of it to give their tablets away; after this YARN is told
   *     to kill what is left; nothing acknowledged is lost by that, but the next start has logs to
   *     recover
   * @param progress gets a line of text for each thing that happens
   * @return how it ended; empty if none ran
   */
  public Optional<StopOutcome> stop(Duration timeout, Consumer<String> progress)
      throws IOException {
    Optional<ApplicationReport> running = applications.running();
    return running.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new ApplicationStop(RUNTIME, new ToStop(running.get().getApplicationId()), progress)
                .await(timeout));
  }

  /** An application that is to stop. */
  private final class ToStop implements ApplicationStop.Application {
    private final ApplicationId id;

    ToStop(ApplicationId id) {
      this.id = id;
    }

    @Override
    public ApplicationId id() {
      return id;
    }

    @Override
    public Optional<ApplicationReport> report(boolean isLast) throws IOException {
      return asker.reportIfKnown(id, isLast);
    }

    @Override
    public ApplicationStatus status(ApplicationReport report) {
      return asker.statusOf(report);
    }

    @Override
    public boolean neverRan(ApplicationReport report) {
      return YarnSubmitter.this.neverRan(report);
    }

    @Override
    public boolean stop(ApplicationReport report, Duration timeout) {
      StopRequestProto request =
          StopRequestProto.newBuilder().setTimeoutMillis(timeout.toMillis()).build();
      try {
        asker.call(report, service -> service.stop(null, request));
        return true;
      } catch (IOException e) {
        return false; // The next attempt of the ApplicationMaster is asked.
      } catch (SteleException e) {
        if (e.code() == SteleException.Code.OUTCOME_UNKNOWN
            || e.code() == SteleException.Code.RETRY_LATER) {
          return false; // It may stop, but should it restart, it may not.
        }
        throw e;
      }
    }

    @Override
    public void kill() throws IOException {
      try {
        client.killApplication(id);
        settings
            .root()
            .getFileSystem(conf)
            .delete(layout().applicationDirectory(id.toString()), true);
      } catch (YarnException e) {
        throw new IOException("cannot have YARN kill " + id, e);
      }
    }

    @Override
    public OptionalInt savedNotDrained(String applicationName) throws IOException {
      CompletableFuture<OptionalInt> read = new CompletableFuture<>();
      RUNTIME.start(
          "read-state", () -> Futures.complete(read, () -> readNotDrained(applicationName)));
      try {
        if (RUNTIME.await(read, STATE_PATIENCE)) {
          return Futures.await(RUNTIME, read, "reading the state that " + id + " has left");
        }
        LOG.warn("HDFS has not answered within {} what {} has left", STATE_PATIENCE, id);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, id + " has ended");
      } catch (IOException | RuntimeException e) {
        LOG.warn("Cannot read the state that {} has left", id, e);
      }
      return OptionalInt.empty();
    }

    private OptionalInt readNotDrained(String applicationName) throws IOException {
      return StateFile.latest(conf, layout().state(applicationName))
          .filter(saved -> saved.getApplicationId().equals(id.toString()) && saved.getStopping())
          .map(saved -> OptionalInt.of(saved.getNotDrained()))
          .orElse(OptionalInt.empty());
    }
  }

  /** A ResourceManager that has restarted forgets that an ApplicationMaster runs, for a while. */
  private boolean neverRan(ApplicationReport report) {
    boolean firstAttempt =
        report.getCurrentApplicationAttemptId() == null
            || report.getCurrentApplicationAttemptId().getAttemptId() <= 1;
    try {
      return firstAttempt && !applications.isHolder(report.getApplicationId());
    } catch (IOException e) {
      LOG.warn("Cannot tell whether {} has run", report.getApplicationId(), e);
      return false; // Whoever asks takes it for one that runs.
    }
  }

  @Override
  public void close() {
    client.stop();
  }
}
