package io.stele.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.runtime.SystemRuntime;
import org.junit.jupiter.api.Test;

class SegmentChainTest {
  private final SegmentLedger ledger = new SegmentLedger(SystemRuntime.INSTANCE);
  private final SegmentChain chain = new SegmentChain(ledger);

  private SegmentLink appendNew() {
    return chain.append(ledger.opening());
  }

  private static SegmentLink link(long previous, long acknowledgedBytes) {
    return new SegmentLink(previous, acknowledgedBytes, SegmentSummary.EMPTY);
  }

  @Test
  void theFirstSegmentNamesNoOther() {
    assertThat(appendNew()).isEqualTo(SegmentLink.NONE);
  }

  @Test
  void aSegmentNamesTheOneBeforeUpToItsAcknowledgedEnd() {
    appendNew();
    chain.acknowledged(100);
    chain.acknowledged(150);
    assertThat(appendNew()).isEqualTo(link(1, 150));
  }

  @Test
  void segmentsThatAcknowledgedNothingAreNamedByNoOther() {
    appendNew();
    assertThat(appendNew()).isEqualTo(SegmentLink.NONE);
    chain.acknowledged(100);
    assertThat(appendNew()).isEqualTo(link(2, 100));
    assertThat(appendNew()).isEqualTo(link(2, 100));
    chain.acknowledged(70);
    assertThat(appendNew()).isEqualTo(link(4, 70));
  }

  @Test
  void onlyASegmentBelowTheLastIsTooLate() {
    ledger.opening();
    appendNew();
    assertThat(chain.isTooLate(1)).isTrue();
    assertThat(chain.isTooLate(2)).isFalse();
    assertThat(chain.isTooLate(3)).isFalse();
  }
}
