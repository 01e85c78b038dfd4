package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.SteleException;
import io.stele.runtime.ForwardingRuntime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.util.Records;
import org.junit.jupiter.api.Test;

/** How an application is stopped, and what is known of it afterwards. */
final class ApplicationStopTest implements ApplicationStop.Application {
  private static final ApplicationId ID = ApplicationId.newInstance(1, 2);
  private static final String NAME = "as it was called at its start";

  /** What YARN says in turn; the last of it again and again. */
  private final Deque<Optional<ApplicationReport>> reports = new ArrayDeque<>();

  private final List<String> done = new ArrayList<>();
  private final List<String> said = new ArrayList<>();
  private boolean answers = true;
  private boolean neverRan;
  private boolean restartsWhenToldToKill;
  private int notDrained;
  private int servers = 2;
  private OptionalInt saved = OptionalInt.empty();

  private static Optional<ApplicationReport> is(YarnApplicationState state) {
    return is(state, FinalApplicationStatus.UNDEFINED);
  }

  private static Optional<ApplicationReport> is(
      YarnApplicationState state, FinalApplicationStatus outcome) {
    ApplicationReport report = Records.newRecord(ApplicationReport.class);
    report.setApplicationId(ID);
    report.setName(NAME);
    report.setYarnApplicationState(state);
    report.setFinalApplicationStatus(outcome);
    return Optional.of(report);
  }

  private StopOutcome stop() throws Exception {
    return new ApplicationStop(new SleepingClock(), this, said::add).await(Duration.ofSeconds(10));
  }

  /** Its time passes only while somebody sleeps. */
  private static final class SleepingClock extends ForwardingRuntime {
    private long nanos;

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void sleep(Duration time) {
      nanos += time.toNanos();
    }
  }

  @Override
  public ApplicationId id() {
    return ID;
  }

  @Override
  public Optional<ApplicationReport> report(boolean isLast) {
    if (isLast && reports.element().isEmpty()) {
      throw SteleException.retryLater("no ResourceManager answers");
    }
    return reports.size() > 1 ? reports.remove() : reports.element();
  }

  @Override
  public ApplicationStatus status(ApplicationReport report) {
    List<ComponentStatus> components = new ArrayList<>();
    for (int i = 1; i <= servers; i++) {
      components.add(
          new ComponentStatus(
              "tabletserver-" + i, "DRAINING", "container_" + i, "n", 0, "", false, 0, ""));
    }
    return new ApplicationStatus(
        ID, "stele", "RUNNING", "", "", answers, true, notDrained, "", components);
  }

  @Override
  public boolean neverRan(ApplicationReport report) {
    return neverRan;
  }

  @Override
  public boolean stop(ApplicationReport report, Duration timeout) {
    done.add("ask");
    return answers;
  }

  @Override
  public void kill() {
    done.add("kill");
    reports.clear();
    if (restartsWhenToldToKill) {
      reports.add(Optional.empty());
    }
    reports.add(is(YarnApplicationState.KILLED, FinalApplicationStatus.KILLED));
  }

  @Override
  public OptionalInt savedNotDrained(String applicationName) {
    return applicationName.equals(NAME) ? saved : OptionalInt.empty();
  }

  @Test
  void howManyWereNotDrainedIsWhatTheApplicationMasterSavedAtTheEnd() throws Exception {
    reports.add(is(YarnApplicationState.RUNNING));
    reports.add(Optional.empty()); // The ResourceManager restarts.
    reports.add(is(YarnApplicationState.RUNNING));
    reports.add(is(YarnApplicationState.FINISHED, FinalApplicationStatus.SUCCEEDED));
    saved = OptionalInt.of(1);
    assertThat(stop()).isEqualTo(new StopOutcome(true, 1));
    assertThat(done).as("it has promised").containsExactly("ask");
    assertThat(said).contains("asked " + ID + " to stop", ID + " is FINISHED");
  }

  @Test
  void whereNothingWasSavedItsLastAnswerTells() throws Exception {
    reports.add(is(YarnApplicationState.RUNNING));
    reports.add(is(YarnApplicationState.FINISHED, FinalApplicationStatus.SUCCEEDED));
    notDrained = 3;
    assertThat(stop()).isEqualTo(new StopOutcome(true, 3));
  }

  @Test
  void whatItAnsweredLaterThanItCouldSaveCounts() throws Exception {
    reports.add(is(YarnApplicationState.RUNNING));
    reports.add(is(YarnApplicationState.FINISHED, FinalApplicationStatus.SUCCEEDED));
    notDrained = 3;
    saved = OptionalInt.of(0);
    assertThat(stop()).isEqualTo(new StopOutcome(true, 3));
  }

  @Test
  void itIsAskedUntilItPromisesAndKilledWhenTheTimeIsUp() throws Exception {
    reports.add(is(YarnApplicationState.RUNNING));
    answers = false;
    assertThat(stop()).as("nothing is known of servers").isEqualTo(new StopOutcome(false, 0));
    assertThat(done).hasSizeGreaterThan(10).endsWith("ask", "kill").containsOnlyOnce("kill");
    assertThat(said).contains(ID + " has not ended within 10 s: telling YARN to kill it");
  }

  @Test
  void serversThatWereLeftWhenItWasKilledWereNotDrained() throws Exception {
    reports.add(is(YarnApplicationState.RUNNING));
    notDrained = 1;
    saved = OptionalInt.of(1);
    assertThat(stop()).isEqualTo(new StopOutcome(false, 3));
  }

  @Test
  void ofOneThatWasKilledAndDidNotAnswerTheSavedStateTells() throws Exception {
    reports.add(is(YarnApplicationState.RUNNING));
    answers = false;
    saved = OptionalInt.of(2);
    assertThat(stop()).isEqualTo(new StopOutcome(false, 2));
  }

  @Test
  void oneThatNeverRanIsKilledAtOnceInOrder() throws Exception {
    reports.add(is(YarnApplicationState.ACCEPTED));
    neverRan = true;
    assertThat(stop()).isEqualTo(new StopOutcome(true, 0));
    assertThat(done).containsExactly("kill");
  }

  @Test
  void aResourceManagerThatRestartsWhenOneThatNeverRanIsKilledIsWaitedFor() throws Exception {
    reports.add(is(YarnApplicationState.ACCEPTED));
    neverRan = true;
    restartsWhenToldToKill = true;
    assertThat(stop()).isEqualTo(new StopOutcome(true, 0));
    assertThat(done).containsExactly("kill");
  }
}
