package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.wire.application.ApplicationProtos.ComponentProto;
import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What operators are told that the application's processes wait for, until when, and why. */
final class StatusReportTest extends PlannerFixture {
  @BeforeEach
  void oneTabletServer() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
  }

  private ComponentProto component() {
    return new StatusReport(
            snapshot(), Optional.empty(), Optional.empty(), Map.of(), OptionalLong.empty())
        .components().stream()
            .filter(component -> component.getId().startsWith(ComponentKind.TABLET_SERVER.id()))
            .findFirst()
            .orElseThrow();
  }

  private String note() {
    return component().getNote();
  }

  @Test
  void aSlotThatFailsSaysHowOftenAndWhyAndWhenItIsAskedForAgain() {
    SlotHistory past = SlotHistory.NEW.failed(NOW.minusSeconds(90), "a", "exit 1 on a");
    history.put(slot(1), past);
    assertThat(note()).isEqualTo("exit 1 on a");
    for (int i = 0; i < 3; i++) {
      past = past.failed(NOW.minusMillis(500), "a", "exit 2 on a\nand its last words");
    }
    history.put(slot(1), past);
    assertThat(component().getState()).isEqualTo("WAITING");
    assertThat(component().getFailures()).isEqualTo(4);
    assertThat(note())
        .isEqualTo("will be asked for in 4 s; failed 4 times in 10 min; the last one exit 2 on a");
    hold("c1", 1, "b", Phase.RUNNING);
    serving.add("c1");
    assertThat(note()).isEqualTo("failed 4 times in 10 min; the last one exit 2 on a");
  }

  @Test
  void aProcessThatDoesNotStartUpOrHasLostItsLockSaysWhenItIsStopped() {
    hold("c1", 1, "a", Phase.RUNNING);
    withoutLock.put("c1", Duration.ofSeconds(29));
    assertThat(note()).isEmpty();
    withoutLock.put("c1", Duration.ofSeconds(45));
    assertThat(component().getState()).isEqualTo("STARTING");
    assertThat(note()).isEqualTo("has been starting for 45 s: will be stopped after 600 s");
    serving.add("c1");
    assertThat(component().getState()).isEqualTo("LOST");
    assertThat(note()).isEqualTo("has had no lock for 45 s: will be stopped after 60 s");
  }

  @Test
  void whatEndsSaysWhyAndInWhichTime() {
    aMasterServes();
    hold("c1", 1, "a", Phase.RUNNING, 3600);
    serving.add("c1");
    hold("c2", 2, "b", Phase.RUNNING, 3600);
    serving.add("c2");
    nodes.add(node("a", true, 4096, 0));
    drainBy.put("a", NOW.plusSeconds(30));
    assertThat(note())
        .isEqualTo(
            "its node is being decommissioned: ends once its replacement serves, in 30 s at the latest");
    containers.remove(0);
    hold("c1", 1, "a", Phase.DRAINING, 20);
    assertThat(note()).isEqualTo("its node is being decommissioned: has 40 s to drain");
    nodes.clear();
    assertThat(note()).isEqualTo("gives its tablets away: has 40 s to drain");
    containers.remove(1);
    wanted.put(ComponentKind.TABLET_SERVER, 0);
    hold("c1", 1, "a", Phase.DRAINING, 20);
    assertThat(note()).isEqualTo("gives its tablets away: ends in 40 s at the latest");
    containers.clear();
    hold("c1", 1, "a", Phase.RUNNING, 3600);
    wanted.put(ComponentKind.TABLET_SERVER, 0);
    wantedSince.put(ComponentKind.TABLET_SERVER, NOW.minusSeconds(100));
    assertThat(note())
        .isEqualTo("is no longer needed: ends once enough others serve, in 440 s at the latest");
  }

  @Test
  void whatDrainsSaysThatItWaitsForAMasterOrForNewsOfTheOthers() {
    aMasterServes();
    hold("c1", 1, "a", Phase.RUNNING, 3600);
    hold("c2", 1, "b", Phase.DRAINING, 70);
    serving.addAll(List.of("c1", "c2"));
    assertThat(noteOf("c2"))
        .isEqualTo(
            "gives its tablets away: its time is over, so it ends once ZooKeeper says again that"
                + " others serve");
    withoutLock.put("m", Duration.ofSeconds(15));
    String forMaster =
        "gives its tablets away, but no master serves that gives them to others: ends once one"
            + " does";
    assertThat(noteOf("c2")).isEqualTo(forMaster);
    containers.remove(1);
    hold("c2", 1, "b", Phase.DRAINING, 20);
    assertThat(noteOf("c2")).as("its time is not over").isEqualTo(forMaster);
    preempted.add("c2");
    assertThat(noteOf("c2")).isEqualTo("YARN is preempting its container");
  }

  private String noteOf(String container) {
    return new StatusReport(
            snapshot(), Optional.empty(), Optional.empty(), Map.of(), OptionalLong.empty())
        .components().stream()
            .filter(component -> component.getContainer().equals(container))
            .findFirst()
            .orElseThrow()
            .getNote();
  }

  @Test
  void whatIsTheLastThatServesSaysThatItWaitsForAnother() {
    hold("c1", 1, "a", Phase.RUNNING, 3600);
    serving.add("c1");
    nodes.add(node("a", true, 4096, 0));
    assertThat(note()).isEqualTo("its node is being decommissioned: ends once another serves");
    containers.clear();
    hold("c1", 1, "a", Phase.DRAINING, 3600);
    nodes.clear();
    assertThat(note())
        .isEqualTo(
            "gives its tablets away, but no other could take them: ends once another serves");
    containers.clear();
    hold("c2", 2, "a", Phase.RUNNING, 3600);
    serving.add("c2");
    StatusReport report =
        new StatusReport(
            snapshot(), Optional.empty(), Optional.empty(), Map.of(), OptionalLong.empty());
    assertThat(report.components().get(1).getNote())
        .isEqualTo("is no longer needed: ends once another serves");
  }
}
