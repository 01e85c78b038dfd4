package io.stele.tablet;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Chooses the inputs of merging and major compactions: some neighbouring layers of a stack of
 * similar size; or the whole stack, if it does not fit its locality groups or has held garbage for
 * long. Immutable.
 */
final class CompactionPicker {
  /** No file merged is larger than this many times all the others together. */
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

  /** With fewer cells than this it is not worth a hurry. */
  private static final long TOMBSTONES_CELLS_MIN = 1000;

  /** Tombstones are many if they are at least one cell in this many. */
  private static final int TOMBSTONES_SHARE = 4;

  /** A stack with no known garbage may have some (a policy became stricter): collect it rarely. */
  private static final int INTERVALS_IF_CLEAN = 7;

  private final TabletOptions options;

  CompactionPicker(TabletOptions options) {
    this.options = options;
  }

  /** The layers that a merging compaction should merge into one file, if it is time for one. */
  Optional<List<FileStack.Layer>> toMerge(FileStack stack, SchemaRules rules) {
    if (stack.isOutOfGroup(rules)) {
      return Optional.of(stack.layers());
    }
    long[] bytes = stack.layers().stream().mapToLong(FileStack.Layer::bytes).toArray();
    return pick(bytes, options).map(pick -> stack.layers().subList(pick.from(), pick.to()));
  }

  /**
   * Whether a stack is due for a major compaction: it has much to delete, or has held something to
   * delete for {@code interval}, or has not been written whole for several times as long.
   */
  boolean isDue(FileStack stack, SchemaRules rules, long nowMicros, Duration interval) {
    long cells = 0;
    long tombstones = 0;
    for (TabletFile file : stack.files()) {
      cells += file.table().properties().cells();
      tombstones += file.table().properties().tombstones();
    }
    if (cells >= TOMBSTONES_CELLS_MIN && tombstones >= cells / TOMBSTONES_SHARE) {
      return true;
    }
    boolean garbage =
        tombstones > 0
            || stack.layers().size() > 1
            || !rules.families().containsAll(stack.families())
            || stack.files().stream().anyMatch(file -> file.ref().hasErased())
            || stack.files().stream().anyMatch(file -> file.hasExpired(rules, nowMicros));
    long wait = TimeUnit.MICROSECONDS.convert(interval) * (garbage ? 1 : INTERVALS_IF_CLEAN);
    // What lies ahead was written by a clock that was wrong.
    return Math.abs(nowMicros - stack.collectedMicros()) >= wait;
  }

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
      for (int to = from + 1;
          to <= bytes.length && to - from <= options.merging().filesMax();
          to++) {
        total += bytes[to - 1];
        largest = Math.max(largest, bytes[to - 1]);
        Pick pick = new Pick(from, to);
        if (pick.count() >= options.merging().filesMin()
            && largest <= RATIO_MAX * (total - largest)
            && (best.isEmpty() || isBetter(pick, best.get(), bytes))) {
          best = Optional.of(pick);
        }
      }
    }
    if (best.isEmpty() && bytes.length > options.merging().stackMax()) {
      int count =
          Math.min(
              options.merging().filesMax(),
              Math.max(
                  options.merging().filesMin(), bytes.length - options.merging().stackMax() + 1));
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
