package io.stele.tablet;

import java.time.Duration;

/**
 * Options of tablets under which no page ends because time has passed: what one page has does not
 * depend on how fast the machine of a test is.
 */
public final class UntimedPages {
  private static final Duration TIME_MAX = Duration.ofDays(1);

  /** As tablets have them otherwise. */
  public static final TabletOptions DEFAULT = of(TabletOptions.DEFAULT);

  private UntimedPages() {}

  /** {@code options} with pages that do not end by time. */
  public static TabletOptions of(TabletOptions options) {
    return options.withPage(new TabletOptions.Page(options.page().bytesMax(), TIME_MAX));
  }

  /** Options of tablets whose SSTables need one replica. */
  static TabletOptions options(
      long valueBytesMax, Duration window, TabletOptions.Merging merging, long pageBytesMax) {
    return new TabletOptions(
        valueBytesMax, window, merging, new TabletOptions.Page(pageBytesMax, TIME_MAX), 1);
  }
}
