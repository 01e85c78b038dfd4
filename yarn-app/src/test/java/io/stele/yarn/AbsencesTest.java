package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class AbsencesTest {
  private final Absences absences = new Absences(Duration.ofSeconds(20));
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  private void list(int secondsLater, String... present) {
    now = now.plusSeconds(secondsLater);
    absences.listed(Set.of("a", "b"), Set.of(present), now);
  }

  private long secondsOf(String name) {
    return absences.of(name).toSeconds();
  }

  @Test
  void timeCountsFromTheFirstListThatLacksAName() {
    list(0, "a", "b");
    list(10, "b");
    assertThat(secondsOf("a")).isZero();
    list(10, "b");
    list(15, "b");
    assertThat(secondsOf("a")).isEqualTo(25);
    assertThat(secondsOf("b")).isZero();
    list(10, "a", "b");
    list(10, "b");
    assertThat(secondsOf("a")).as("it was there").isZero();
  }

  @Test
  void noTimeCountsThatIsNotBetweenTwoLists() {
    list(0);
    list(3600);
    assertThat(secondsOf("a")).as("we hung").isEqualTo(20);
    absences.missedList();
    list(10);
    assertThat(secondsOf("a")).as("nobody knows").isEqualTo(20);
    list(5);
    assertThat(secondsOf("a")).isEqualTo(25);
  }

  @Test
  void anAbsenceThatOthersSawGoesOnWithTheFirstList() {
    absences.takeOver("a", Duration.ofSeconds(90));
    list(3600);
    assertThat(secondsOf("a")).isEqualTo(90);
    list(5, "b");
    assertThat(secondsOf("a")).isEqualTo(95);
    list(5, "a");
    assertThat(secondsOf("a")).isZero();
  }

  @Test
  void whatIsNotExpectedIsForgotten() {
    list(0);
    list(10);
    absences.listed(Set.of("b"), Set.of(), now);
    list(10);
    assertThat(secondsOf("a")).isZero();
    assertThat(secondsOf("b")).isEqualTo(20);
    absences.seen("b");
    assertThat(secondsOf("b")).isZero();
  }
}
