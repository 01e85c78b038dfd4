package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.check.Repair;
import io.stele.model.SteleException;
import io.stele.runtime.IoConsumer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepairCommandTest {
  private static final Repair GIVE_UP = new Repair(Repair.Kind.GIVE_UP_LOG, "node1_7021_1");
  private static final Repair EVICT = new Repair(Repair.Kind.EVICT_SERVER, "node2_7021_1");
  private static final Repair RELEASE = new Repair(Repair.Kind.RELEASE_TABLET, "t1/a1");

  private final List<Repair> done = new ArrayList<>();
  private final StringWriter out = new StringWriter();

  private int carryOut(boolean acceptLoss, IoConsumer<Repair> work) throws IOException {
    return RepairCommand.carryOut(
        List.of(GIVE_UP, EVICT, RELEASE), acceptLoss, work, new PrintWriter(out, true));
  }

  @Test
  void nothingIsGivenUpUnlessItIsAskedFor() throws IOException {
    assertThat(carryOut(false, done::add)).isEqualTo(1);
    assertThat(done).containsExactly(EVICT, RELEASE);
    assertThat(out.toString()).contains("not done: go on without the log of dead server node1");

    done.clear();
    assertThat(carryOut(true, done::add)).isZero();
    assertThat(done).containsExactly(GIVE_UP, EVICT, RELEASE);
  }

  @Test
  void aRepairThatFailsDoesNotKeepOthersFromBeingDone() throws IOException {
    int left =
        carryOut(
            true,
            repair -> {
              if (repair.equals(EVICT)) {
                throw SteleException.notFound("there is no tablet server node2");
              }
              done.add(repair);
            });
    assertThat(left).isEqualTo(1);
    assertThat(done).containsExactly(GIVE_UP, RELEASE);
    assertThat(out.toString()).contains("failed: treat server node2_7021_1 as dead: there is no");
  }
}
