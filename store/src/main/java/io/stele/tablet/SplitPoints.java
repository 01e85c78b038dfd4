package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Rows that cut a range into pieces of similar size, found in the block indexes of its files.
 * Immutable.
 */
final class SplitPoints {
  /** Pieces are made of parts of the files: about so many for each piece. */
  private static final int PARTS_OF_PIECE = 16;

  /** The memory of a part beside its row. */
  private static final long PART_BYTES = 100;

  /**
   * Each file is cut at other places than the one before: its fractional multiples are spread
   * evenly.
   */
  private static final double GOLDEN_RATIO = 0.6180339887498949;

  /**
   * Some of a file's bytes.
   *
   * @param row of the block in their middle
   */
  private record Part(Bytes row, double bytes) {}

  private final List<TabletFile> files;
  private final MemoryClaim memory;

  /**
   * The rows of some files.
   *
   * @param memory asked for the memory of the work, and now and then whether to go on
   */
  SplitPoints(List<TabletFile> files, MemoryClaim memory) {
    this.files = files;
    this.memory = memory;
  }

  /**
   * The row above the start of {@code rows} that comes closest to splitting their bytes in half,
   * with cells on both sides.
   */
  Optional<Bytes> middle(RowRange rows) throws IOException {
    TreeSet<Bytes> found = new TreeSet<>();
    for (TabletFile file : files) {
      memory.requireWanted();
      Optional<RowRange> part = file.ref().bounds().intersection(rows);
      if (part.isPresent()) {
        file.table().middleRow(part.get()).filter(row -> isInside(row, rows)).ifPresent(found::add);
      }
    }
    return found.isEmpty() ? Optional.empty() : Optional.of(middleOf(List.copyOf(found), rows));
  }

  /** The one of {@code candidates}, ascending, with about as many bytes below it as above. */
  private Bytes middleOf(List<Bytes> candidates, RowRange rows) throws IOException {
    long total = bytesIn(rows);
    int low = 0;
    int high = candidates.size() - 1; // The first with half of the bytes below it, or the last.
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (2 * bytesBelow(candidates.get(middle), rows) < total) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    Bytes above = candidates.get(low);
    if (low == 0) {
      return above;
    }
    Bytes below = candidates.get(low - 1);
    long error = Math.abs(2 * bytesBelow(above, rows) - total);
    return Math.abs(2 * bytesBelow(below, rows) - total) <= error ? below : above;
  }

  private long bytesBelow(Bytes row, RowRange rows) throws IOException {
    return bytesIn(new RowRange(rows.start(), row));
  }

  /**
   * Rows that cut {@code rows} into up to {@code count} pieces of similar size, in order, followed
   * by the end of {@code rows} with the bytes of all. No piece ends within a block. Takes a few
   * steps in the index for each piece and each file, and reads no data.
   */
  List<RowSample> samples(RowRange rows, int count) throws IOException {
    long total = bytesIn(rows);
    List<Part> parts = parts(rows, (double) Math.max(1, total) / count / PARTS_OF_PIECE);
    List<RowSample> samples = new ArrayList<>();
    double piece = (double) total / count;
    double next = piece;
    double last = 0;
    double below = 0;
    for (int i = 0; i < parts.size(); ) {
      Bytes row = parts.get(i).row();
      double here = 0;
      for (; i < parts.size() && parts.get(i).row().equals(row); i++) {
        here += parts.get(i).bytes();
      }
      double middle = below + here / 2; // One row may have more than a piece.
      if (middle >= next && below > last && isInside(row, rows)) {
        samples.add(new RowSample(row, Math.round(below)));
        last = below;
        next = (Math.floor(middle / piece) + 1) * piece;
      }
      below += here;
    }
    samples.add(new RowSample(rows.end(), total));
    return samples;
  }

  /** The parts of all files, of about {@code partBytes} and at least one, in order. */
  private List<Part> parts(RowRange rows, double partBytes) throws IOException {
    MemoryClaim small = memory.inSteps();
    List<Part> parts = new ArrayList<>();
    double shift = 0;
    for (TabletFile file : files) {
      memory.requireWanted();
      Optional<RowRange> within = file.ref().bounds().intersection(rows);
      long bytes = within.isPresent() ? file.table().bytesIn(within.get()) : 0;
      if (bytes > 0) {
        shift = (shift + GOLDEN_RATIO) % 1;
        int count = (int) Math.ceil(bytes / partBytes);
        for (Bytes row : file.table().rowsOfParts(within.get(), count, shift)) {
          small.take(PART_BYTES + row.length());
          parts.add(new Part(row, (double) bytes / count));
        }
      }
    }
    parts.sort(Comparator.comparing(Part::row));
    return parts;
  }

  /** The bytes of {@code rows} on disk. */
  long bytesIn(RowRange rows) throws IOException {
    long bytes = 0;
    for (TabletFile file : files) {
      Optional<RowRange> part = file.ref().bounds().intersection(rows);
      if (part.isPresent()) {
        bytes += file.table().bytesIn(part.get());
      }
    }
    return bytes;
  }

  private static boolean isInside(Bytes row, RowRange rows) {
    return row.compareTo(rows.start()) > 0 && rows.isBeforeEnd(row);
  }
}
