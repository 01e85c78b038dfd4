package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;

/**
 * Rows that cut a range into pieces of similar size, found in the block indexes of its files.
 * Immutable.
 */
final class SplitPoints {
  private record Piece(RowRange rows, long bytes) {}

  private final List<TabletFile> files;

  SplitPoints(List<TabletFile> files) {
    this.files = files;
  }

  /**
   * The row above the start of {@code rows} that comes closest to splitting their bytes in half.
   */
  Optional<Bytes> middle(RowRange rows) throws IOException {
    long total = bytesIn(rows);
    Optional<Bytes> best = Optional.empty();
    long bestError = Long.MAX_VALUE;
    for (TabletFile file : files) {
      Optional<RowRange> part = file.ref().bounds().intersection(rows);
      if (part.isPresent()) {
        Optional<Bytes> candidate = file.table().middleRow(part.get());
        if (candidate.isPresent() && isInside(candidate.get(), rows)) {
          long below = bytesIn(new RowRange(rows.start(), candidate.get()));
          long error = Math.abs(total - 2 * below);
          if (error < bestError) {
            best = candidate;
            bestError = error;
          }
        }
      }
    }
    return best;
  }

  /**
   * Up to {@code count} rows that cut {@code rows} into pieces of similar size, in order, followed
   * by the end of {@code rows} with the bytes of all.
   */
  List<RowSample> samples(RowRange rows, int count) throws IOException {
    PriorityQueue<Piece> largest =
        new PriorityQueue<>(Comparator.comparingLong(Piece::bytes).reversed());
    List<Piece> pieces = new ArrayList<>();
    largest.add(new Piece(rows, bytesIn(rows)));
    while (!largest.isEmpty() && largest.size() + pieces.size() <= count) {
      Piece piece = largest.remove();
      Optional<Bytes> middle = middle(piece.rows());
      if (middle.isPresent()) {
        RowRange low = new RowRange(piece.rows().start(), middle.get());
        RowRange high = new RowRange(middle.get(), piece.rows().end());
        largest.add(new Piece(low, bytesIn(low)));
        largest.add(new Piece(high, bytesIn(high)));
      } else {
        pieces.add(piece); // One block, or one row: it stays whole.
      }
    }
    pieces.addAll(largest);
    pieces.sort(Comparator.comparing(piece -> piece.rows().start()));
    List<RowSample> samples = new ArrayList<>();
    long offset = 0;
    for (Piece piece : pieces) {
      if (!piece.rows().start().equals(rows.start())) {
        samples.add(new RowSample(piece.rows().start(), offset));
      }
      offset += piece.bytes();
    }
    samples.add(new RowSample(rows.end(), offset));
    return samples;
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
