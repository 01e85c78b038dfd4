package io.stele.tabletserver;

import java.time.Instant;

/**
 * Maintenance that fails repeatedly because of its tablet.
 *
 * @param work what fails: "make a minor compaction"
 * @param reason why, when it failed last
 * @param since when it failed first
 * @param failures how often in a row
 */
record Trouble(String work, String reason, Instant since, int failures) {
  @Override
  public String toString() {
    return "could not " + work + " since " + since + " (" + failures + " times): " + reason;
  }
}
