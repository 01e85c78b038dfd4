package io.stele.log;

import io.stele.model.TabletId;
import java.util.Arrays;

/**
 * A record as it is in a segment.
 *
 * @param tablet whose record it is
 * @param array has its body from {@code at} on; whoever gives the record says for how long
 * @param length of the body, in bytes
 * @param bodyCrc the body's checksum, which it matches
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record EncodedRecord(TabletId tablet, byte[] array, int at, int length, int bodyCrc) {
  /** How many bytes it takes in a segment. */
  long bytes() {
    return LogFormat.FRAME_BYTES + (long) length;
  }

  /** A copy of its body. */
  byte[] body() {
    return Arrays.copyOfRange(array, at, at + length);
  }
}
