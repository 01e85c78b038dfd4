package io.stele.yarn;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.master.Applications;
import io.stele.metadata.JobNodes;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The applications of a YARN cluster, as its ResourceManager knows them. After it could not be
 * reached, it is not asked again for a while, so that jobs that need no answer do not wait for it.
 * Safe for use by any number of threads.
 */
final class YarnApplications implements Applications {
  private static final Logger LOG = LoggerFactory.getLogger(YarnApplications.class);
  private static final Duration CONNECT_MAX = Duration.ofSeconds(3);
  private static final Duration LEFT_ALONE = Duration.ofSeconds(30);

  private final Configuration conf;
  private final ProcessRuntime runtime;
  private final Lock lock;

  @GuardedBy("lock")
  private Optional<YarnClient> client = Optional.empty();

  @GuardedBy("lock")
  private long leftAloneUntilNanos;

  /** Applications of the YARN whose ResourceManager the configuration names, if it does. */
  public static final class Provider implements Applications.Provider {
    /** For the class path. */
    public Provider() {}

    @Override
    public Applications open(Configuration conf, ProcessRuntime runtime) {
      return isNamed(conf) ? new YarnApplications(conf, runtime) : NONE;
    }

    /** Whether there is an address of a ResourceManager, and not the one that stands for none. */
    static boolean isNamed(Configuration conf) {
      YarnConfiguration yarn = new YarnConfiguration(conf);
      if (yarn.getBoolean(YarnConfiguration.RM_HA_ENABLED, false)) {
        return true;
      }
      InetAddress address =
          yarn.getSocketAddr(
                  YarnConfiguration.RM_ADDRESS,
                  YarnConfiguration.DEFAULT_RM_ADDRESS,
                  YarnConfiguration.DEFAULT_RM_PORT)
              .getAddress();
      return address == null || !address.isAnyLocalAddress(); // Null: not resolved, but named.
    }
  }

  private YarnApplications(Configuration conf, ProcessRuntime runtime) {
    this.conf = new YarnConfiguration(conf);
    this.runtime = runtime;
    this.lock = runtime.newLock();
    this.leftAloneUntilNanos = runtime.nanoTime();
  }

  /** How YARN is asked. */
  private interface Question {
    State ask(YarnClient yarn) throws YarnException, IOException;
  }

  @Override
  public State state(String application) {
    if (application.startsWith(JobNodes.TAG)) {
      Set<String> tags = Set.of(application.substring(JobNodes.TAG.length()));
      return ask(application, yarn -> of(yarn.getApplications(null, null, tags)));
    }
    ApplicationId id;
    try {
      id = ApplicationId.fromString(application);
    } catch (IllegalArgumentException e) {
      return State.UNKNOWN; // Of something else than YARN.
    }
    return ask(application, yarn -> of(yarn.getApplicationReport(id).getYarnApplicationState()));
  }

  private State ask(String application, Question question) {
    lock.lock();
    try {
      if (runtime.nanoTime() - leftAloneUntilNanos < 0) {
        return State.UNKNOWN;
      }
      return question.ask(client());
    } catch (ApplicationNotFoundException e) {
      return State.UNKNOWN; // Not submitted yet, forgotten, or of another YARN.
    } catch (YarnException | IOException | RuntimeException e) {
      LOG.info("Cannot ask YARN for {} now: {}", application, e.toString());
      leftAloneUntilNanos = runtime.nanoTime() + LEFT_ALONE.toNanos();
      return State.UNKNOWN;
    } finally {
      lock.unlock();
    }
  }

  /** What is known of the application for which a tag was made. */
  static State of(List<ApplicationReport> tagged) {
    return firstOf(tagged)
        .map(report -> of(report.getYarnApplicationState()))
        .orElse(State.UNKNOWN);
  }

  /**
   * The application for which a tag was made, of all that have it: the first. A job that is made of
   * a copy of the configuration of another that was submitted has the other's tag, too.
   */
  static Optional<ApplicationReport> firstOf(List<ApplicationReport> tagged) {
    return tagged.stream().min(Comparator.comparing(ApplicationReport::getApplicationId));
  }

  static State of(YarnApplicationState state) {
    return switch (state) {
      case NEW, NEW_SAVING, SUBMITTED, ACCEPTED, RUNNING -> State.ALIVE;
      case FINISHED, FAILED, KILLED -> State.ENDED;
    };
  }

  @GuardedBy("lock")
  private YarnClient client() {
    if (client.isEmpty()) {
      client = Optional.of(ResourceManagerClient.start(conf, CONNECT_MAX));
    }
    return client.get();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      client.ifPresent(YarnClient::stop);
      client = Optional.empty();
    } finally {
      lock.unlock();
    }
  }
}
