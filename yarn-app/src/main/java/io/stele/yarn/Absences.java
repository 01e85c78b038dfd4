package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts for how long names have been in no list. Time counts only between two lists in a row: what
 * could not be listed is not known to be absent.
 *
 * <p>Confined to one thread.
 */
final class Absences {
  private final Duration gapMax;
  private final Map<String, Duration> absent = new TreeMap<>();

  /** When the last list was made, if the last attempt succeeded. */
  private Optional<Instant> listed = Optional.empty();

  /**
   * Nothing is absent.
   *
   * @param gapMax no more than this counts between two lists: we may have hung
   */
  Absences(Duration gapMax) {
    this.gapMax = gapMax;
  }

  /** Notes a list: of {@code expected} only {@code present} are there. Others are forgotten. */
  void listed(Set<String> expected, Set<String> present, Instant now) {
    Duration passed = listed.map(last -> Duration.between(last, now)).orElse(Duration.ZERO);
    if (passed.compareTo(gapMax) > 0) {
      passed = gapMax;
    }
    absent.keySet().retainAll(expected);
    for (String name : expected) {
      if (present.contains(name)) {
        absent.remove(name);
      } else {
        Duration before = absent.get(name);
        absent.put(name, before == null ? Duration.ZERO : before.plus(passed));
      }
    }
    listed = Optional.of(now);
  }

  /** Notes that {@code name} had been absent for {@code time} when it was last listed by others. */
  void takeOver(String name, Duration time) {
    absent.put(name, time);
  }

  /** Notes that no list could be made. */
  void missedList() {
    listed = Optional.empty();
  }

  /** Notes that {@code name} was seen outside of a list. */
  void seen(String name) {
    absent.remove(name);
  }

  /** Whether it was absent in the last list. */
  boolean isAbsent(String name) {
    return absent.containsKey(name);
  }

  /** For how long it has been absent; zero if it is there, or was absent in the last list only. */
  Duration of(String name) {
    return absent.getOrDefault(name, Duration.ZERO);
  }
}
