package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class StopOutcomeTest {
  @Test
  void theLastWordsOfAnApplicationMasterSayHowManyWereNotDrained() {
    assertThat(StopOutcome.diagnostics(0)).isEqualTo("stopped as asked");
    assertThat(StopOutcome.diagnostics(1))
        .isEqualTo("stopped as asked; 1 tablet server ended without being drained");
  }

  @Test
  void onlyAStopInWhichAllServersWereDrainedHasNothingToSay() {
    assertThat(new StopOutcome(true, 0).words()).isEmpty();
    assertThat(new StopOutcome(true, 2).words())
        .isEqualTo(
            "2 tablet servers ended without being drained. No acknowledged write is lost; the next"
                + " start recovers their logs");
    assertThat(new StopOutcome(false, 1).words())
        .contains("YARN killed", "1 tablet server among it");
    assertThat(new StopOutcome(false, 0).words()).contains("YARN killed", "not drained");
  }
}
