package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.Settled;
import io.stele.model.TaskProgress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A block that an earlier build wrote is read as it was written, and written the same again.
 *
 * <p>After a change of the format, with its version raised, {@code -Dstele.golden.rewrite=true}
 * writes a new one.
 */
class OperationsBlockTest {
  private static final Path GOLDEN =
      Path.of("src/test/resources/io/stele/tablet/operations-version-4.block");
  private static final OperationsBlock.Header HEADER =
      new OperationsBlock.Header(1_700_000_000_000_000L, 1_600_000_000_000_000L, 77);
  private static final Bytes RESULT = Bytes.of("the result of operation 300");
  private static final long DIGEST = 0xfedcba9876543210L;
  private static final Settled SETTLED = new Settled(1_000_000, 0x8877665544332211L);

  @Test
  void theFormatIsTheOneInTheGoldenFile() throws IOException {
    Bytes written = written();
    if (Boolean.getBoolean("stele.golden.rewrite")) {
      Files.createDirectories(GOLDEN.getParent());
      Files.write(GOLDEN, written.toByteArray());
    }
    Bytes golden = Bytes.wrap(Files.readAllBytes(GOLDEN));
    check(golden);
    assertThat(written).as("the format has changed: give it another version").isEqualTo(golden);
  }

  /** A client with operations, one with none, and three tasks. */
  private static Bytes written() {
    OperationsBlock.Writer out = OperationsBlock.write(HEADER);
    ClientOperations client = new ClientOperations();
    client.restore(290, new long[0], new long[0], new Bytes[0]);
    client.seen(1_650_000_000_000_000L);
    out.client(new ClientName(1, -2), client, 3);
    out.operation(290, DIGEST, Bytes.EMPTY);
    out.operation(300, DIGEST + 1, RESULT);
    out.operation(Long.MAX_VALUE - 1, DIGEST + 2, Bytes.EMPTY);
    out.client(new ClientName(1, -1), new ClientOperations(), 0);
    out.client(new ClientName(2, 0), task(Optional.of("job-17"), SETTLED, 40), 1);
    out.operation(1_000_000, DIGEST, Bytes.EMPTY);
    out.client(new ClientName(3, 0), task(Optional.of("job-17"), Settled.NONE, 0), 0);
    out.client(new ClientName(4, 0), task(Optional.empty(), SETTLED, 1), 0);
    return out.block();
  }

  /** A task of which {@code settled} records with the lowest numbers may be in the sample. */
  private static ClientOperations task(Optional<String> job, Settled settled, int records) {
    ClientOperations client = new ClientOperations();
    client.asTask().hear(new TaskProgress(job, settled));
    for (int number = 1; number <= records; number++) {
      client.asTask().sample(number, DIGEST + number);
    }
    return client;
  }

  private static void check(Bytes block) throws MalformedException {
    assertThat(OperationsBlock.timeOf(block)).isEqualTo(HEADER.micros());
    OperationsBlock.Reader in = OperationsBlock.read(block);
    assertThat(in.header()).isEqualTo(HEADER);

    ClientOperations client = next(in, new ClientName(1, -2), 1_650_000_000_000_000L);
    assertThat(client.firstIncomplete()).isEqualTo(290);
    assertThat(client.task()).isEmpty();
    assertThat(client.written().numbers()).containsExactly(290L, 300L, Long.MAX_VALUE - 1);
    for (int i = 0; i < 3; i++) {
      assertThat(client.written().digest(i)).isEqualTo(DIGEST + i);
      assertThat(client.written().result(i)).isEqualTo(i == 1 ? RESULT : Bytes.EMPTY);
    }

    ClientOperations reduced = next(in, new ClientName(1, -1), 0);
    assertThat(reduced.firstIncomplete()).isEqualTo(1);
    assertThat(reduced.written().size()).isZero();

    ClientOperations far = next(in, new ClientName(2, 0), 0);
    assertThat(far.job()).contains("job-17");
    assertThat(far.asTask().isJobLogged()).isTrue();
    assertThat(far.asTask().settled()).isEqualTo(SETTLED);
    assertThat(sampled(far.asTask())).hasSizeBetween(1, TaskMemory.SAMPLES_MAX);
    assertThat(sampled(far.asTask()))
        .isEqualTo(sampled(task(Optional.empty(), SETTLED, 40).asTask()));
    assertThat(far.written().numbers()).containsExactly(1_000_000L);

    ClientOperations begun = next(in, new ClientName(3, 0), 0);
    assertThat(begun.job()).contains("job-17");
    assertThat(begun.asTask().settled()).isEqualTo(Settled.NONE);

    ClientOperations withoutJob = next(in, new ClientName(4, 0), 0);
    assertThat(withoutJob.job()).isEmpty();
    assertThat(withoutJob.asTask().isJobLogged()).isFalse();
    assertThat(withoutJob.asTask().settled()).isEqualTo(SETTLED);
    assertThat(sampled(withoutJob.asTask())).containsExactly(1L);
    assertThat(in.hasNext()).isFalse();
  }

  private static ClientOperations next(OperationsBlock.Reader in, ClientName name, long seen)
      throws MalformedException {
    assertThat(in.hasNext()).isTrue();
    assertThat(in.next()).isEqualTo(name);
    assertThat(in.lastSeenMicros()).isEqualTo(seen);
    ClientOperations client = new ClientOperations();
    in.restore(client);
    return client;
  }

  /** The records of 1 to 40 that are known one by one. */
  private static List<Long> sampled(TaskMemory task) {
    List<Long> sampled = new ArrayList<>();
    for (long number = 1; number <= 40; number++) {
      if (task.isOther(number, DIGEST - 1)) {
        assertThat(task.isOther(number, DIGEST + number)).isFalse();
        sampled.add(number);
      }
    }
    return sampled;
  }

  @Test
  void aBlockWithNothingToRememberIsEmpty() {
    OperationsBlock.Header nothing = new OperationsBlock.Header(5, 0, 0);
    assertThat(OperationsBlock.write(nothing).block()).isEqualTo(Bytes.EMPTY);
    assertThat(OperationsBlock.timeOf(Bytes.EMPTY)).isZero();
    OperationsBlock.Header forgotten = new OperationsBlock.Header(5, 1, 0);
    assertThat(OperationsBlock.timeOf(OperationsBlock.write(forgotten).block())).isEqualTo(5);
  }

  @Test
  void aBlockOfAnotherVersionIsRefused() throws IOException {
    byte[] other = Files.readAllBytes(GOLDEN);
    other[0]++;
    assertThatThrownBy(() -> OperationsBlock.read(Bytes.wrap(other)))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("version 5");
  }

  @Test
  void aBlockThatEndsWithinAClientIsMalformed() throws IOException {
    byte[] golden = Files.readAllBytes(GOLDEN);
    int clients = 0;
    for (int length = 0; length < golden.length; length++) {
      clients += isWhole(Bytes.wrap(Arrays.copyOf(golden, length))) ? 1 : 0;
    }
    assertThat(clients).as("ends after the header, and after all but the last").isEqualTo(5);
  }

  private static boolean isWhole(Bytes block) {
    try {
      OperationsBlock.Reader in = OperationsBlock.read(block);
      while (in.hasNext()) {
        in.next();
        in.restore(new ClientOperations());
      }
      return true;
    } catch (MalformedException e) {
      return false;
    }
  }
}
