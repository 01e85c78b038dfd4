package io.stele.tablet;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Chooses the inputs of merging and major compactions: neighbouring layers of a stack with similar
 * sizes, or the whole stack, if it does not fit its locality groups or has held garbage for long.
 * Immutable.
 */
final class CompactionPicker {
  /** No merged file is larger than this many times all the others together. */
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

  /** With fewer cells than this, tombstones do not make a stack due at once. */
  private static final long TOMBSTONES_CELLS_MIN = 1000;

  /** Tombstones are many if they are at least one in this many cells. */
  private static final int TOMBSTONES_SHARE = 4;

  /** Layers above the oldest matter if they have at least one in this many bytes. */
  private static final int OVERWRITTEN_SHARE = 10;

  /**
   * A stack without known garbage may have some, because a policy became stricter: collect it
   * rarely.
   */
  private static final int INTERVALS_IF_CLEAN = 7;

  private final TabletOptions options;

  CompactionPicker(TabletOptions options) {
    this.options = options;
  }

  /** The layers that a merging compaction should merge into one file, if any. */
  Optional<List<FileStack.Layer>> toMerge(FileStack stack, SchemaRules rules) {
    if (stack.isOutOfGroup(rules)) {
      return Optional.of(stack.layers());
    }
    long[] bytes = stack.layers().stream().mapToLong(FileStack.Layer::bytes).toArray();
    return pick(bytes, options).map(pick -> stack.layers().subList(pick.from(), pick.to()));
  }

  /**
   * Whether a stack is due for a major compaction: much of it can be deleted, or some of it could
   * be deleted for {@code interval}, or it was not rewritten as a whole for several times as long.
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
            || mayBeOverwritten(stack)
            || !rules.families().containsAll(stack.families())
            || stack.files().stream().anyMatch(file -> file.ref().hasErased())
            || stack.files().stream().anyMatch(file -> file.hasExpired(rules, nowMicros));
    long wait = TimeUnit.MICROSECONDS.convert(interval) * (garbage ? 1 : INTERVALS_IF_CLEAN);
    // A time in the future was written by a wrong clock.
    return Math.abs(nowMicros - stack.collectedMicros()) >= wait;
  }

  /**
   * Whether upper layers may have pushed out a good part of those below. Without tombstones they
   * push out about as much as they hold at most.
   */
  private static boolean mayBeOverwritten(FileStack stack) {
    long all = stack.layers().stream().mapToLong(FileStack.Layer::bytes).sum();
    long oldest = stack.layers().get(stack.layers().size() - 1).bytes();
    return stack.layers().size() > 1 && all - oldest >= all / OVERWRITTEN_SHARE;
  }

  /**
   * The longest run of files of similar size, and of several such runs the smallest in bytes. If
   * there is none but there are too many files, the run with the fewest bytes whose merge reduces
   * their number enough.
   *
   * @param bytes the files' sizes, ordered by sequence numbers
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
