package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.check.CheckReport;
import io.stele.check.Problem;
import io.stele.check.Repair;
import io.stele.model.SteleException;
import io.stele.runtime.IoConsumer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RepairCommandTest {
  private static final Repair GIVE_UP =
      new Repair(Repair.Kind.GIVE_UP_LOG, "node1_7021_1", "it gives up its records");
  private static final Repair FORGET =
      new Repair(Repair.Kind.FORGET_TABLE, "t7", "it gives up 2 tablets");
  private static final Repair EVICT = new Repair(Repair.Kind.EVICT_SERVER, "node2_7021_1", "");
  private static final Repair RELEASE = new Repair(Repair.Kind.RELEASE_TABLET, "t1/a1", "");
  private static final List<Repair> ALL = List.of(GIVE_UP, FORGET, EVICT, RELEASE);

  private final List<Repair> done = new ArrayList<>();
  private final StringWriter out = new StringWriter();

  private int carryOut(List<String> accepted, IoConsumer<Repair> work) throws IOException {
    return RepairCommand.carryOut(ALL, accepted, work, new PrintWriter(out, true));
  }

  /** Carries out all repairs but {@code one}, which fails. */
  private IoConsumer<Repair> failing(Repair one, IoConsumer<Repair> failure) {
    return repair -> {
      if (repair.equals(one)) {
        failure.accept(repair);
      }
      done.add(repair);
    };
  }

  @Test
  void nothingIsGivenUpButWhatIsNamed() throws IOException {
    assertThat(carryOut(List.of(), done::add)).isEqualTo(2);
    assertThat(done).containsExactly(EVICT, RELEASE);
    assertThat(out.toString().lines())
        .contains(
            "not done: continue without the log of dead server node1_7021_1: it gives up its records:"
                + " add --accept-loss node1_7021_1 to give that up",
            "not done: delete the records of table t7: it gives up 2 tablets: add --accept-loss t7"
                + " to give that up")
        .containsSequence(
            "left to do:",
            "    continue without the log of dead server node1_7021_1: it gives up its records",
            "    delete the records of table t7: it gives up 2 tablets");

    done.clear();
    assertThat(carryOut(List.of("t7"), done::add)).isEqualTo(1);
    assertThat(done).containsExactly(FORGET, EVICT, RELEASE);

    done.clear();
    assertThat(carryOut(List.of("t7", "node1_7021_1"), done::add)).isZero();
    assertThat(done).isEqualTo(ALL);
  }

  @Test
  void oneServerIsTreatedAsDeadAtATime() throws IOException {
    Repair other = new Repair(Repair.Kind.EVICT_SERVER, "node3_7021_1", "");
    int left =
        RepairCommand.carryOut(
            List.of(EVICT, other, RELEASE), List.of(), done::add, new PrintWriter(out, true));
    assertThat(left).isEqualTo(1);
    assertThat(done).containsExactly(EVICT, RELEASE);
    assertThat(out.toString())
        .contains("not done: treat server node3_7021_1 as dead: one server at a time");

    done.clear();
    Repair silent = new Repair(Repair.Kind.EVICT_SILENT_SERVER, "node3_7021_1", "");
    Repair too = new Repair(Repair.Kind.EVICT_SILENT_SERVER, "node4_7021_1", "");
    RepairCommand.carryOut(List.of(silent, too), List.of(), done::add, new PrintWriter(out, true));
    assertThat(done).containsExactly(silent);
  }

  @Test
  void theDryRunShowsTheOptionToCopy() {
    Problem problem =
        new Problem("table t7", "its node is lost", "2 tablets", "restore it", Optional.of(FORGET));
    Problem other = new Problem("server x", "it hangs", "", "kill it", Optional.of(EVICT));
    RepairCommand.show(
        new CheckReport(1, 1, 1, 1, 1, 0, 0, false, List.of(problem, other)),
        new PrintWriter(out, true));
    assertThat(out.toString().lines())
        .contains(
            "    repair: delete the records of table t7: it gives up 2 tablets"
                + " (needs --accept-loss t7)",
            "    repair: treat server node2_7021_1 as dead");
  }

  @Test
  void anAcceptedLossOfWhichThereIsNoneIsSaid() {
    RepairCommand.showUnknown(
        List.of("t7", "t77", "node2_7021_1"), ALL, new PrintWriter(out, true));
    assertThat(out.toString().lines())
        .containsExactly(
            "--accept-loss t77: no repair gives up data of it",
            "--accept-loss node2_7021_1: no repair gives up data of it");
  }

  @Test
  void aRepairThatFailsDoesNotKeepOthersFromBeingDone() throws IOException {
    int left =
        carryOut(
            List.of("t7", "node1_7021_1"),
            failing(
                EVICT,
                any -> {
                  throw SteleException.notFound("there is no tablet server node2");
                }));
    assertThat(left).isEqualTo(1);
    assertThat(done).containsExactly(GIVE_UP, FORGET, RELEASE);
    assertThat(out.toString()).contains("failed: treat server node2_7021_1 as dead: there is no");
  }

  @Test
  void afterAFileSystemFailsTheOthersAreDoneAndWhatIsLeftIsNamed() throws IOException {
    int left =
        carryOut(
            List.of("t7", "node1_7021_1"),
            failing(
                GIVE_UP,
                any -> {
                  throw new IOException("the NameNode is away");
                }));
    assertThat(left).isEqualTo(1);
    assertThat(done).containsExactly(FORGET, EVICT, RELEASE);
    assertThat(out.toString().lines())
        .anyMatch(line -> line.startsWith("failed: ") && line.endsWith("the NameNode is away"))
        .endsWith(
            "left to do:",
            "    continue without the log of dead server node1_7021_1: it gives up its records");
  }

  @Test
  void anInterruptionEndsTheRepairsAndWhatIsLeftIsNamed() {
    assertThatThrownBy(
            () ->
                carryOut(
                    List.of("t7", "node1_7021_1"),
                    failing(
                        EVICT,
                        any -> {
                          throw new InterruptedIOException("interrupted");
                        })))
        .isInstanceOf(InterruptedIOException.class);
    assertThat(done).containsExactly(GIVE_UP, FORGET);
    assertThat(out.toString().lines())
        .endsWith(
            "left to do:", "    treat server node2_7021_1 as dead", "    try tablet t1/a1 again");
  }
}
