package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.wire.HostShare;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocalHostsTest {
  private final HostNumbers numbers = new HostNumbers();

  @Test
  void theFirstThreeHostsAreKeptWithTheirSharesRounded() {
    List<HostShare> shares =
        List.of(
            new HostShare("a", 100),
            new HostShare("b", 50),
            new HostShare("c", 1), // Rounded, that is nothing.
            new HostShare("d", 10),
            new HostShare("e", 10));
    long localHosts = LocalHosts.of(shares, numbers);
    assertThat(LocalHosts.shares(localHosts, numbers))
        .extracting(HostShare::host)
        .containsExactly("a", "b", "d");
    assertThat(LocalHosts.share(localHosts, numbers.of("A"))).isEqualTo(1);
    assertThat(LocalHosts.share(localHosts, numbers.of("b"))).isBetween(0.48, 0.52);
    assertThat(LocalHosts.share(localHosts, numbers.of("d"))).isBetween(0.08, 0.12);
    assertThat(LocalHosts.share(localHosts, numbers.of("e"))).isZero();
    assertThat(LocalHosts.of(List.of(), numbers)).isEqualTo(LocalHosts.UNKNOWN);
    assertThat(LocalHosts.shares(LocalHosts.UNKNOWN, numbers)).isEmpty();
  }

  @Test
  void theHostsWithTheLargestNumbersFitAndLaterOnesAreUnknown() {
    for (int i = 1; i < HostNumbers.MAX; i++) {
      numbers.of("host" + i);
    }
    List<HostShare> last =
        List.of(
            new HostShare("last", 100), new HostShare("host65534", 97), new HostShare("host1", 94));
    long localHosts = LocalHosts.of(last, numbers);
    assertThat(LocalHosts.shares(localHosts, numbers)).isEqualTo(last);
    assertThat(numbers.of("one more")).isEqualTo(HostNumbers.NONE);
    assertThat(LocalHosts.share(localHosts, HostNumbers.NONE)).isZero();
    assertThat(LocalHosts.of(List.of(new HostShare("one more", 100)), numbers))
        .isEqualTo(LocalHosts.UNKNOWN);
  }
}
