package io.stele.inputformat;

import io.stele.client.RowKeySample;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Divides the rows of one scan into splits near a target size: it cuts a large tablet into pieces
 * of equal size, and puts small tablets of one host together.
 *
 * <p>Work and memory grow with the tablets and ranges, not with their product; only tablets that
 * must be cut, or are read in part, are sampled. For one thread.
 */
final class SplitPlanner {
  /** Samples for each piece of the target size: a piece is wrong by about one of them. */
  static final int SAMPLES_A_PIECE = 16;

  /** The maximum number of tablets of one split, however small they are. */
  static final int TABLETS_A_SPLIT_MAX = 1000;

  /** A tablet smaller than this part of the target is not sampled for being read in part. */
  private static final int NEGLIGIBLE = 8;

  /** How many tablets are asked for samples at once. */
  private static final int SAMPLED_AT_ONCE_MAX = 64;

  private final TableScan scan;
  private final int index;
  private final long targetBytes;
  private final Sampler sampler;
  private final Deque<Sampled> sampled = new ArrayDeque<>();
  private final Map<String, Group> open = new LinkedHashMap<>(); // By host.
  private final List<TableSplit> splits = new ArrayList<>();

  /** Tells where in a tablet its bytes are. */
  @FunctionalInterface
  interface Sampler {
    /**
     * Rows of {@code tablet}, ascending, with the bytes of it that lie before them; the last sample
     * is for its end.
     */
    CompletableFuture<List<RowKeySample>> sample(TabletInfo tablet);
  }

  /** The rows read of a tablet whose samples have been requested. */
  private record Sampled(
      TabletInfo tablet, List<RowRange> ranges, CompletableFuture<List<RowKeySample>> samples) {}

  /** Rows read of one tablet, with where in them their bytes are. */
  private record Piece(TabletInfo tablet, List<RowRange> ranges, List<RowKeySample> marks) {
    long bytes() {
      return marks.get(marks.size() - 1).offsetBytes();
    }
  }

  /** Pieces for one split. */
  private static final class Group {
    final List<Piece> pieces = new ArrayList<>();
    long bytes;
  }

  /** A planner of the splits of scan number {@code index}. */
  SplitPlanner(TableScan scan, int index, long targetBytes, Sampler sampler) {
    this.scan = scan;
    this.index = index;
    this.targetBytes = targetBytes;
    this.sampler = sampler;
  }

  /**
   * The splits, in the order of their first rows.
   *
   * @param tablets of the table, ascending
   */
  List<TableSplit> plan(List<TabletInfo> tablets) throws IOException {
    List<RowRange> asked = ascending(scan.query().ranges());
    int next = 0;
    for (TabletInfo tablet : tablets) {
      while (next < asked.size() && endsBefore(asked.get(next), tablet.rows().start())) {
        next++;
      }
      List<RowRange> ranges = new ArrayList<>();
      for (int i = next; i < asked.size() && tablet.rows().isBeforeEnd(asked.get(i).start()); i++) {
        asked.get(i).intersection(tablet.rows()).ifPresent(ranges::add);
      }
      if (!ranges.isEmpty()) {
        boolean sample = wantsSamples(tablet, ranges);
        sampled.add(
            new Sampled(
                tablet,
                ranges,
                sample ? sampler.sample(tablet) : CompletableFuture.completedFuture(List.of())));
      }
      if (sampled.size() > SAMPLED_AT_ONCE_MAX) {
        planNext();
      }
    }
    while (!sampled.isEmpty()) {
      planNext();
    }
    open.values().forEach(this::close);
    splits.sort(Comparator.comparing(split -> split.ranges().get(0).start()));
    return splits;
  }

  private boolean wantsSamples(TabletInfo tablet, List<RowRange> ranges) {
    boolean inPart = !ranges.equals(List.of(tablet.rows()));
    return pieces(tablet.bytes(), targetBytes) > 1
        || (inPart && tablet.bytes() > targetBytes / NEGLIGIBLE);
  }

  private static List<RowKeySample> await(CompletableFuture<List<RowKeySample>> samples)
      throws IOException {
    try {
      return samples.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted = new InterruptedIOException("sampling tablets");
      interrupted.initCause(e);
      throw interrupted;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SteleException known) {
        throw known;
      }
      throw new IOException("sampling tablets: " + e.getCause(), e.getCause());
    }
  }

  private void planNext() throws IOException {
    Sampled next = sampled.remove();
    TabletInfo tablet = next.tablet();
    List<Piece> cut = new Cutter(tablet, await(next.samples())).cut(next.ranges(), targetBytes);
    if (cut.size() > 1) {
      cut.forEach(
          piece -> {
            Group alone = new Group();
            alone.pieces.add(piece);
            close(alone);
          });
      return;
    }
    Piece piece = cut.get(0);
    String host = host(tablet);
    Group group = open.computeIfAbsent(host, none -> new Group());
    // Nearer to the target without it than with it.
    long after = group.bytes + piece.bytes();
    if (!group.pieces.isEmpty()
        && (group.pieces.size() == TABLETS_A_SPLIT_MAX
            || after - targetBytes > targetBytes - group.bytes)) {
      close(group);
      group = new Group();
      open.put(host, group);
    }
    group.pieces.add(piece);
    group.bytes += piece.bytes();
  }

  private void close(Group group) {
    List<RowRange> ranges = new ArrayList<>();
    List<RowKeySample> marks = new ArrayList<>();
    long before = 0;
    for (Piece piece : group.pieces) {
      piece.ranges().forEach(range -> append(ranges, range));
      for (RowKeySample mark : piece.marks().subList(0, piece.marks().size() - 1)) {
        marks.add(new RowKeySample(mark.row(), before + mark.offsetBytes()));
      }
      before += piece.bytes();
    }
    marks.add(new RowKeySample(Bytes.EMPTY, before));
    TabletInfo tablet = group.pieces.get(0).tablet();
    splits.add(new TableSplit(scan, index, tablet.id().table(), ranges, host(tablet), marks));
  }

  private static String host(TabletInfo tablet) {
    return tablet.server().map(server -> server.host()).orElse("");
  }

  static long pieces(long bytes, long targetBytes) {
    return Math.max(1, Math.round((double) bytes / targetBytes));
  }

  /** The ranges in order, those that touch made one; all rows if there are none. */
  private static List<RowRange> ascending(List<RowRange> ranges) {
    if (ranges.isEmpty()) {
      return List.of(RowRange.ALL);
    }
    List<RowRange> ascending = new ArrayList<>();
    ranges.stream()
        .filter(range -> !range.isEmpty())
        .sorted(Comparator.comparing(RowRange::start))
        .forEach(range -> append(ascending, range));
    return ascending;
  }

  /** Adds a range that starts no earlier than the last. */
  private static void append(List<RowRange> ranges, RowRange range) {
    int last = ranges.size() - 1;
    if (last >= 0 && !leavesGap(ranges.get(last), range.start())) {
      RowRange before = ranges.get(last);
      boolean longer =
          !before.end().isEmpty()
              && (range.end().isEmpty() || range.end().compareTo(before.end()) > 0);
      ranges.set(last, longer ? new RowRange(before.start(), range.end()) : before);
    } else {
      ranges.add(range);
    }
  }

  private static boolean endsBefore(RowRange range, Bytes row) {
    return !range.end().isEmpty() && range.end().compareTo(row) <= 0;
  }

  /** Whether a row may lie between the end of {@code range} and {@code row}. */
  private static boolean leavesGap(RowRange range, Bytes row) {
    return !range.end().isEmpty() && range.end().compareTo(row) < 0;
  }

  /** Cuts the rows read of one tablet by its samples. */
  private static final class Cutter {
    private static final int CUTS_PER_MARK = 4;

    private final TabletInfo tablet;
    private final List<RowKeySample> samples;
    private final long sampled;

    Cutter(TabletInfo tablet, List<RowKeySample> samples) {
      this.tablet = tablet;
      this.samples = samples;
      this.sampled = samples.isEmpty() ? 0 : samples.get(samples.size() - 1).offsetBytes();
    }

    /** Pieces of equal size near the target. */
    List<Piece> cut(List<RowRange> ranges, long targetBytes) {
      List<RowKeySample> marks = marks(ranges);
      long total = marks.get(marks.size() - 1).offsetBytes();
      // A target far below the distance of marks cuts at all of them, or nearly so.
      long count = Math.min(pieces(total, targetBytes), (long) CUTS_PER_MARK * marks.size());
      List<Piece> pieces = new ArrayList<>();
      int from = 0;
      for (long i = 1; i < count; i++) {
        int to = nearest(marks, from, (double) total * i / count);
        if (to > from && to < marks.size() - 1) {
          pieces.add(piece(ranges, marks, from, to));
          from = to;
        }
      }
      pieces.add(piece(ranges, marks, from, marks.size() - 1));
      return pieces;
    }

    /** The mark above {@code from} that comes nearest to {@code offset}. */
    private static int nearest(List<RowKeySample> marks, int from, double offset) {
      int at = from;
      while (at + 1 < marks.size()
          && Math.abs(marks.get(at + 1).offsetBytes() - offset)
              <= Math.abs(marks.get(at).offsetBytes() - offset)) {
        at++;
      }
      return at;
    }

    private Piece piece(List<RowRange> ranges, List<RowKeySample> marks, int from, int to) {
      RowRange rows = new RowRange(marks.get(from).row(), marks.get(to).row());
      long before = marks.get(from).offsetBytes();
      return new Piece(
          tablet,
          ranges.stream().flatMap(range -> range.intersection(rows).stream()).toList(),
          marks.subList(from, to + 1).stream()
              .map(mark -> new RowKeySample(mark.row(), mark.offsetBytes() - before))
              .toList());
    }

    /**
     * The beginning of each range and the samples in it, with the bytes read before them; the end.
     */
    private List<RowKeySample> marks(List<RowRange> ranges) {
      List<RowKeySample> marks = new ArrayList<>();
      double scale = sampled == 0 ? 0 : (double) tablet.bytes() / sampled;
      double done = 0;
      int next = 0;
      for (RowRange range : ranges) {
        while (next < samples.size() - 1 && samples.get(next).row().compareTo(range.start()) <= 0) {
          next++;
        }
        double start = before(next) * scale;
        marks.add(new RowKeySample(range.start(), Math.round(done)));
        while (next < samples.size() - 1 && range.contains(samples.get(next).row())) {
          RowKeySample sample = samples.get(next++);
          marks.add(
              new RowKeySample(
                  sample.row(), Math.round(done + sample.offsetBytes() * scale - start)));
        }
        boolean toTheEnd = range.end().equals(tablet.rows().end());
        if (!toTheEnd && next < samples.size() - 1 && samples.get(next).row().equals(range.end())) {
          next++;
        }
        done += (toTheEnd ? sampled : before(next)) * scale - start;
      }
      // The samples say where the bytes are, the tablet how many there are.
      long total = sampled == 0 ? tablet.bytes() : Math.round(done);
      marks.add(new RowKeySample(ranges.get(ranges.size() - 1).end(), total));
      return marks;
    }

    /** The bytes before the rows that follow sample {@code next - 1}. */
    private long before(int next) {
      return next == 0 ? 0 : samples.get(next - 1).offsetBytes();
    }
  }
}
