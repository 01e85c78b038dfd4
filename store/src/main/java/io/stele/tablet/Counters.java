package io.stele.tablet;

import java.util.concurrent.atomic.LongAdder;

/** Counts of what a tablet does. Safe for use by any number of threads. */
final class Counters {
  final LongAdder reads = new LongAdder();
  final LongAdder rowsRead = new LongAdder();
  final LongAdder operations = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder minorCompactions = new LongAdder();
  final LongAdder mergingAndMajorCompactions = new LongAdder();
}
