package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.files.HdfsOutage;
import io.stele.model.CorruptionException;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class HdfsWaitTest {
  private static final Duration LONG = Duration.ofHours(3);

  private final Simulation simulation = new Simulation(1, 100_000);
  private final SimulatedProcess process = simulation.process("application-master");

  /** What an attempt reads when HDFS comes back so long after its start. */
  private String read(int attempt, Duration away, IOException failure) throws Exception {
    return new HdfsWait(process, FakeYarn.attempt(attempt))
        .forReading(
            "a file",
            () -> {
              if (process.nanoTime() < away.toNanos()) {
                throw failure;
              }
              return "read";
            });
  }

  private Duration passed() {
    return Duration.ofNanos(process.nanoTime());
  }

  @Test
  void theFirstAttemptGivesUpAfterAWhile() throws Exception {
    simulation.run(
        () -> {
          assertThatThrownBy(() -> read(1, LONG, new IOException("no NameNode answers")))
              .hasMessage("no NameNode answers");
          assertThat(passed()).isBetween(HdfsOutage.PATIENCE, HdfsOutage.PATIENCE.plusSeconds(1));
        });
  }

  @Test
  void aLaterAttemptWaitsAsLongAsItTakes() throws Exception {
    simulation.run(
        () -> {
          assertThat(read(2, LONG, new IOException("no NameNode answers"))).isEqualTo("read");
          assertThat(passed()).isBetween(LONG, LONG.plusSeconds(5));
        });
  }

  @Test
  void aLaterAttemptDoesNotWaitLongForAFileThatIsMissing() throws Exception {
    simulation.run(
        () -> {
          assertThatThrownBy(() -> read(2, LONG, new FileNotFoundException("no such file")))
              .hasMessage("no such file");
          assertThat(passed()).isBetween(HdfsOutage.PATIENCE, HdfsOutage.PATIENCE.plusSeconds(1));
        });
  }

  @Test
  void damageIsNotWaitedFor() throws Exception {
    simulation.run(
        () -> {
          assertThatThrownBy(() -> read(2, LONG, new CorruptionException("state", 0, "torn")))
              .isInstanceOf(CorruptionException.class);
          assertThat(passed()).isZero();
        });
  }
}
