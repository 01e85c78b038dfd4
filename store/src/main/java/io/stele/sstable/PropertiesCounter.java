package io.stele.sstable;

import io.stele.format.CellType;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.Codec;

/** Counts what {@link SSTableProperties} tell. Not safe for use by several threads. */
final class PropertiesCounter {
  private long cells;
  private long tombstones;
  private long rowTombstones;
  private long familyTombstones;
  private long rows;
  private Bytes firstKey = Bytes.EMPTY;
  private long minSequence;
  private long maxSequence = -1;
  private long minTimestamp;
  private long maxTimestamp = -1;
  private long highestServerTimestamp;
  private long rawBytes;
  private long dataBytes;
  private long dataBlocks;

  long cells() {
    return cells;
  }

  void addRow() {
    rows++;
  }

  void addCell(
      byte[] key, int keyLength, long timestamp, long sequence, CellType type, int valueLength) {
    if (cells++ == 0) {
      firstKey = Bytes.of(key, 0, keyLength);
      minSequence = sequence;
      maxSequence = sequence;
    } else if (sequence < minSequence) {
      minSequence = sequence;
    } else if (sequence > maxSequence) {
      maxSequence = sequence;
    }
    if (type.isTombstone()) {
      tombstones++;
      if (type == CellType.DELETE_ROW) {
        rowTombstones++;
      } else if (type == CellType.DELETE_FAMILY) {
        familyTombstones++;
      }
    } else if (maxTimestamp < 0) {
      minTimestamp = timestamp;
      maxTimestamp = timestamp;
    } else if (timestamp < minTimestamp) {
      minTimestamp = timestamp;
    } else if (timestamp > maxTimestamp) {
      maxTimestamp = timestamp;
    }
    rawBytes += keyLength + (long) valueLength;
  }

  void addBlock(int length) {
    dataBytes += length;
    dataBlocks++;
  }

  void highestServerTimestamp(long micros) {
    highestServerTimestamp = Math.max(highestServerTimestamp, micros);
  }

  SSTableProperties properties(Bytes lastKey, Codec codec, Bloom bloom, String createdBy) {
    return new SSTableProperties(
        cells,
        tombstones,
        rowTombstones,
        familyTombstones,
        rows,
        firstKey,
        lastKey,
        minSequence,
        maxSequence,
        minTimestamp,
        maxTimestamp,
        highestServerTimestamp,
        rawBytes,
        dataBytes,
        dataBlocks,
        codec,
        bloom,
        createdBy);
  }
}
