package io.stele.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FreshReadTest {
  private final AtomicLong ahead = new AtomicLong();
  private final ProcessRuntime runtime = ForwardingRuntime.ahead(ahead::get);
  private final AtomicInteger reads = new AtomicInteger();

  @Test
  void whatWasReadBeforeTheMomentIsReadAgain() throws Exception {
    FreshRead<Integer> fresh = new FreshRead<>(runtime, reads::incrementAndGet);
    long first = runtime.nanoTime();
    assertThat(fresh.since(first)).isEqualTo(1);
    assertThat(fresh.since(first)).isEqualTo(1);
    ahead.addAndGet(1000);
    long second = runtime.nanoTime();
    assertThat(fresh.since(second)).isEqualTo(2);
    assertThat(fresh.since(first)).as("newer is as good").isEqualTo(2);
  }

  @Test
  void aChangeDuringTheReadIsSeenByThoseWhoAskAfterIt() throws Exception {
    FreshRead<Integer> fresh =
        new FreshRead<>(
            runtime,
            () -> {
              int value = reads.incrementAndGet();
              ahead.addAndGet(1000); // It may be too old before it is known.
              return value;
            });
    fresh.since(runtime.nanoTime());
    ahead.addAndGet(-500); // While it was read.
    assertThat(fresh.since(runtime.nanoTime())).isEqualTo(2);
  }

  @Test
  void aFailedReadIsTriedAgain() throws Exception {
    FreshRead<Integer> fresh =
        new FreshRead<>(
            runtime,
            () -> {
              if (reads.incrementAndGet() == 1) {
                throw new IOException("not now");
              }
              return reads.get();
            });
    long since = runtime.nanoTime();
    assertThatThrownBy(() -> fresh.since(since)).hasMessage("not now");
    assertThat(fresh.since(since)).isEqualTo(2);
  }
}
