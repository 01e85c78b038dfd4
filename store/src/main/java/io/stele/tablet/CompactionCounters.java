package io.stele.tablet;

import java.util.concurrent.atomic.LongAdder;

/** Counts of a tablet's compactions. Safe for use by any number of threads. */
final class CompactionCounters {
  final LongAdder minorCompactions = new LongAdder();
  final LongAdder mergingAndMajorCompactions = new LongAdder();
}
