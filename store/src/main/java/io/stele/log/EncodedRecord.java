package io.stele.log;

import io.stele.model.TabletId;

/**
 * A record as it is in a segment.
 *
 * @param tablet whose record it is
 * @param body its body, which nobody changes
 * @param bodyCrc the body's checksum, which it matches
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record EncodedRecord(TabletId tablet, byte[] body, int bodyCrc) {
  /** How many bytes it takes in a segment. */
  long bytes() {
    return LogFormat.FRAME_BYTES + (long) body.length;
  }
}
