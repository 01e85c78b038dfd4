package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Since when nodes have been leaving. */
final class LeavingNodesTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration EXPIRY = Duration.ofMinutes(10);

  private final LeavingNodes leaving = new LeavingNodes(EXPIRY);

  private static Node node(boolean leaving) {
    return new Node("a", leaving, Optional.empty(), 1, 1, 1);
  }

  private Instant sinceAt(Instant now) {
    return leaving.since("a", now);
  }

  @Test
  void aNodeLeavesSinceItWasFirstSeenToAndNoMoreOnceItStays() {
    leaving.seen(node(true), NOW);
    leaving.seen(node(true), NOW.plusSeconds(5));
    assertThat(sinceAt(NOW.plusSeconds(6))).isEqualTo(NOW);
    leaving.seen(node(false), NOW.plusSeconds(7));
    assertThat(sinceAt(NOW.plusSeconds(8))).isEqualTo(NOW.plusSeconds(8));
  }

  @Test
  void aNodeThatIsInNoListIsForgottenOnlyAfterAWhile() {
    leaving.seen(node(true), NOW);
    Instant listed = NOW;
    for (int i = 0; i < 10; i++) {
      leaving.listed(Set.of("b"), listed);
      assertThat(sinceAt(listed)).isEqualTo(NOW);
      leaving.missedList();
      listed = listed.plusSeconds(60);
    }
    for (int i = 0; i <= 10; i++) {
      assertThat(sinceAt(listed)).isEqualTo(NOW);
      leaving.listed(Set.of("b"), listed);
      listed = listed.plusSeconds(60);
    }
    assertThat(sinceAt(listed)).isEqualTo(listed);
  }

  @Test
  void aLaterAttemptKnowsItAndItsClockMayBeBehind() {
    leaving.seen(node(true), NOW);
    LeavingNodes later = new LeavingNodes(EXPIRY);
    later.takeOver(leaving.toProto(), SavedTimes.ofAnother(NOW.plusSeconds(30)));
    later.seen(node(true), NOW.plusSeconds(40));
    assertThat(later.since("a", NOW.plusSeconds(40))).isEqualTo(NOW);
    Instant behind = NOW.minusSeconds(100);
    later = new LeavingNodes(EXPIRY);
    later.takeOver(leaving.toProto(), SavedTimes.ofAnother(behind));
    assertThat(later.since("a", behind.plusSeconds(5))).isEqualTo(behind);
  }
}
