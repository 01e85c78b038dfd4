package io.stele.tabletserver;

import java.time.Instant;

/**
 * Maintenance that fails repeatedly because of its tablet.
 *
 * @param work what fails
 * @param reason why, when it failed last
 * @param since when it failed first
 * @param failures how often in a row
 * @param damage whether it failed last because something is damaged
 */
record Trouble(Work work, String reason, Instant since, int failures, boolean damage) {
  @Override
  public String toString() {
    return "could not " + work.text() + " since " + since + " (" + failures + " times): " + reason;
  }
}
