package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.runtime.ManualClocks;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OperationsTest {
  private static final Mutation MUTATION = Mutation.of(Bytes.of("r")).put("f", "q", "v");

  private final ManualClocks clocks = new ManualClocks(5, Instant.EPOCH);
  private final Operations operations = new Operations(clocks);

  private OperationId begin() {
    return operations.begin(MUTATION);
  }

  @Test
  void theOldestOperationIsTheLowestThatHasNotEnded() {
    OperationId first = begin();
    clocks.pass(Duration.ofSeconds(3));
    OperationId second = begin();
    clocks.pass(Duration.ofSeconds(4));
    OperationId third = begin();
    clocks.pass(Duration.ofSeconds(5));
    assertThat(operations.outstanding()).isEqualTo(outstanding(first, Duration.ofSeconds(12)));

    operations.complete(second);
    assertThat(operations.outstanding()).isEqualTo(outstanding(first, Duration.ofSeconds(12)));
    operations.fail(first);
    assertThat(operations.outstanding()).isEqualTo(outstanding(third, Duration.ofSeconds(5)));
    operations.complete(third);
    assertThat(operations.outstanding()).isEqualTo(Outstanding.from(third.number() + 1));
  }

  /** That of one that began just before it may count for it: its age is never too low. */
  @Test
  void theAgeIsRightWithinAFewMilliseconds() {
    OperationId first = begin();
    clocks.pass(Duration.ofMillis(9));
    OperationId second = begin();
    clocks.pass(Duration.ofSeconds(1));
    operations.complete(first);
    Outstanding said = operations.outstanding();
    assertThat(said.firstIncomplete()).isEqualTo(second.number());
    assertThat(said.age().orElseThrow())
        .isBetween(Duration.ofMillis(1000), Duration.ofMillis(1010));
  }

  @Test
  void theTimeThatAMachineSleepsCountsForThoseThatBeganBefore() {
    OperationId first = begin();
    clocks.passWall(Duration.ofHours(1));
    OperationId second = begin();
    assertThat(operations.outstanding()).isEqualTo(outstanding(first, Duration.ofHours(1)));
    operations.complete(first);
    assertThat(operations.outstanding()).isEqualTo(outstanding(second, Duration.ZERO));
  }

  private static Outstanding outstanding(OperationId first, Duration age) {
    return new Outstanding(first.number(), Optional.of(age));
  }
}
