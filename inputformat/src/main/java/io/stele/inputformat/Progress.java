package io.stele.inputformat;

import io.stele.client.RowKeySample;
import io.stele.model.Bytes;
import java.util.List;

/**
 * The progress of a reader, in bytes. The marks of its split give the bytes on disk; between two
 * marks it counts the bytes read, which are not compressed. It is brought up to date after each
 * thousandth of the split at the latest. In the beginning it is brought up to date whenever an
 * eighth more was read, so that a sample of the first rows has a progress too. One thread reads;
 * any thread may ask for the progress.
 */
final class Progress {
  /** To look for the row among the marks takes as long as a good part of reading it. */
  private static final long LOOK_EVERY_BYTES_MAX = 64 << 10;

  private static final int LOOKS = 1000;
  private static final int LOOK_PART = 8; // Of what was read before.

  private final List<RowKeySample> marks;
  private final long total;
  private final long lookEveryBytes;
  private int passed; // Marks passed; of one thread.
  private long sinceMark;
  private long sinceLook;
  private long readBytes;
  private volatile long bytes;

  /**
   * A reader that has read nothing yet.
   *
   * @param marks ascending rows with the bytes before them
   */
  Progress(List<RowKeySample> marks, long total) {
    this.marks = marks;
    this.total = total;
    this.lookEveryBytes = Math.min(LOOK_EVERY_BYTES_MAX, total / LOOKS);
  }

  /** The reader has read {@code row}, of {@code rowBytes}. */
  void read(Bytes row, long rowBytes) {
    if (sinceLook >= Math.min(lookEveryBytes, readBytes / LOOK_PART)) {
      look(row);
    }
    sinceLook += rowBytes;
    sinceMark += rowBytes;
    readBytes += rowBytes;
  }

  private void look(Bytes row) {
    sinceLook = 0;
    while (passed < marks.size() && marks.get(passed).row().compareTo(row) <= 0) {
      passed++;
      sinceMark = 0;
    }
    long from = passed == 0 ? 0 : marks.get(passed - 1).offsetBytes();
    long to = passed == marks.size() ? total : marks.get(passed).offsetBytes();
    bytes = Math.max(bytes, Math.min(to, from + sinceMark));
  }

  /** The reader has read all. */
  void end() {
    bytes = total;
  }

  /** The part read, 0 to 1. */
  float part() {
    return Math.min(1f, (float) ((double) bytes / total));
  }
}
