package io.stele.tablet;

import java.util.Optional;

/** Chooses which neighbouring files a merging compaction merges, by size alone. */
final class CompactionPicker {
  /** Of files merged none is larger than so many times all the others together. */
  private static final double RATIO_MAX = 1.2;

  /**
   * Neighbours in the order of files.
   *
   * @param from the first, inclusive
   * @param to the last, exclusive
   */
  record Pick(int from, int to) {
    int count() {
      return to - from;
    }
  }

  private CompactionPicker() {}

  /**
   * The longest run of files of similar size, the smallest of these in bytes; where there is none
   * but too many files, the run with the fewest bytes that brings them down.
   *
   * @param bytes the files' sizes, neighbours in the order of sequence numbers side by side
   */
  static Optional<Pick> pick(long[] bytes, TabletOptions options) {
    Optional<Pick> best = Optional.empty();
    for (int from = 0; from < bytes.length; from++) {
      long total = 0;
      long largest = 0;
      for (int to = from + 1; to <= bytes.length && to - from <= options.mergeFilesMax(); to++) {
        total += bytes[to - 1];
        largest = Math.max(largest, bytes[to - 1]);
        Pick pick = new Pick(from, to);
        if (pick.count() >= options.mergeFilesMin()
            && largest <= RATIO_MAX * (total - largest)
            && (best.isEmpty() || isBetter(pick, best.get(), bytes))) {
          best = Optional.of(pick);
        }
      }
    }
    if (best.isEmpty() && bytes.length > options.filesMax()) {
      int count =
          Math.min(
              options.mergeFilesMax(),
              Math.max(options.mergeFilesMin(), bytes.length - options.filesMax() + 1));
      for (int from = 0; from + count <= bytes.length; from++) {
        Pick pick = new Pick(from, from + count);
        if (best.isEmpty() || isBetter(pick, best.get(), bytes)) {
          best = Optional.of(pick);
        }
      }
    }
    return best;
  }

  private static boolean isBetter(Pick a, Pick b, long[] bytes) {
    return a.count() != b.count() ? a.count() > b.count() : total(a, bytes) < total(b, bytes);
  }

  private static long total(Pick pick, long[] bytes) {
    long total = 0;
    for (int i = pick.from(); i < pick.to(); i++) {
      total += bytes[i];
    }
    return total;
  }
}
