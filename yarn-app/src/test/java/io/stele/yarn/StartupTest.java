package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import io.stele.runtime.ForwardingRuntime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;

final class StartupTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final List<String> said = new ArrayList<>();

  private static ApplicationStatus application(String state, ComponentStatus... components) {
    return new ApplicationStatus(
        ApplicationId.newInstance(1, 2),
        "stele",
        state,
        "",
        "master-1 ended 2 times",
        state.equals("RUNNING"),
        false,
        0,
        "",
        List.of(components));
  }

  private static ComponentStatus master(String state, int failures) {
    String exit =
        "ended with exit code 1 on n (container_1_%d): The master stops: the port is taken"
            .formatted(failures);
    return new ComponentStatus(
        "master-1",
        state,
        "container_1_" + (failures + 1),
        "n",
        failures,
        "",
        false,
        failures == 0 ? 0 : 1, // One that had the lock for long counts anew.
        failures == 0 ? "" : exit);
  }

  /** What is looked at in turn; the last of them again and again. */
  private static <T> T next(Deque<T> answers) {
    return answers.size() > 1 ? answers.remove() : answers.element();
  }

  private Startup startup(List<ApplicationStatus> statuses, List<Optional<String>> masters) {
    Deque<ApplicationStatus> applications = new ArrayDeque<>(statuses);
    Deque<Optional<String>> probed = new ArrayDeque<>(masters);
    return new Startup(new JumpingClock(), () -> next(applications), () -> next(probed), said::add);
  }

  /** Its time passes only while somebody sleeps, and twenty times as fast. */
  private static final class JumpingClock extends ForwardingRuntime {
    private long nanos;

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void sleep(Duration time) {
      nanos += time.multipliedBy(20).toNanos();
    }
  }

  @Test
  void aStartThatIsQuickSaysNothing() throws Exception {
    startup(
            List.of(
                application("ACCEPTED"),
                application("RUNNING", master("WAITING", 0)),
                application("RUNNING", master("RUNNING", 0))),
            List.of(Optional.empty()))
        .await(LONG);
    assertThat(said).isEmpty();
  }

  @Test
  void whatALongStartWaitsForIsSaidAgainWhenItHasChanged() throws Exception {
    List<Optional<String>> masters =
        new ArrayList<>(Collections.nCopies(20, Optional.of("it was elected")));
    masters.add(Optional.empty());
    List<ApplicationStatus> statuses =
        new ArrayList<>(Collections.nCopies(5, application("RUNNING", master("WAITING", 0))));
    statuses.add(application("RUNNING", master("RUNNING", 0)));
    startup(statuses, masters).await(Duration.ofMinutes(10));
    assertThat(said)
        .containsExactly(
            "after 10 s: application_1_0002 is RUNNING: master-1 WAITING",
            "after 25 s: waiting until a master answers: it was elected",
            "after 85 s: waiting until a master answers: it was elected");
  }

  @Test
  void eachFailureIsToldWithItsReasonItsNumberAndItsLogs() throws Exception {
    startup(
            List.of(
                application("RUNNING", master("RUNNING", 0)),
                application("RUNNING", master("WAITING", 1)),
                application("RUNNING", master("STARTING", 1)),
                application("RUNNING", master("STARTING", 2)),
                application("RUNNING", master("RUNNING", 2))),
            List.of(Optional.of("it was elected"), Optional.empty()))
        .await(LONG);
    assertThat(said)
        .containsOnlyOnce(
            "master-1 ended with exit code 1 on n (container_1_1): The master stops: the port is"
                + " taken; its logs: yarn logs -applicationId application_1_0002 -containerId"
                + " container_1_1")
        .containsOnlyOnce(
            "master-1 ended with exit code 1 on n (container_1_2): The master stops: the port is"
                + " taken; it has ended 2 times; its logs: yarn logs -applicationId"
                + " application_1_0002 -containerId container_1_2");
  }

  @Test
  void whenTheTimeIsUpItSaysWhatIsMissingAndHowItFailed() {
    Startup startup =
        startup(
            List.of(application("RUNNING", master("RUNNING", 2))),
            List.of(Optional.of("it was elected")));
    assertThatThrownBy(() -> startup.await(Duration.ZERO))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
        .hasMessageContainingAll(
            "no master answers after 0 s: it was elected",
            "The master stops: the port is taken; it has ended 2 times",
            "It stays submitted");
  }

  @Test
  void anApplicationThatYarnHasNotStartedIsNotSaidToRunOn() {
    assertThat(application("ACCEPTED").unanswered(false))
        .startsWith("No server runs yet: YARN has given no container to the ApplicationMaster (")
        .contains("the queue may be full", "maximum-am-resource-percent");
    assertThat(application("SUBMITTED").unanswered(false))
        .startsWith("No server runs yet: YARN has not accepted the application (");
    // Between two ApplicationMasters YARN says ACCEPTED as well.
    assertThat(application("ACCEPTED").unanswered(true))
        .contains("It may be restarting; the servers keep running without it");
  }

  @Test
  void anApplicationThatGivesUpIsReportedWithItsLastWords() {
    Startup startup =
        startup(
            List.of(
                application("RUNNING", master("STARTING", 1)),
                application("FAILED", master("WAITING", 2))),
            List.of(Optional.empty()));
    assertThatThrownBy(() -> startup.await(LONG))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("application_1_0002 is FAILED: master-1 ended 2 times");
  }
}
