package io.stele.examples.earth;

import io.stele.model.Bytes;

/**
 * A square of the map of the earth. A zoom level has {@code 2^zoom} columns from 180 degrees west,
 * and as many rows from 90 degrees north.
 *
 * <p>Its key has a digit for each zoom level: which quarter of the square of the level before it
 * is. So what lies together on the map is mostly close together in a table, and a square's key is
 * the beginning of the keys of all within it.
 */
record Segment(int zoom, int x, int y) {
  private static final double DEGREES_WIDE = 360;
  private static final double DEGREES_HIGH = 180;

  /** The segment with a point in it. */
  static Segment of(double latitude, double longitude, int zoom) {
    double x = (longitude + DEGREES_WIDE / 2) / DEGREES_WIDE;
    double y = (DEGREES_HIGH / 2 - latitude) / DEGREES_HIGH;
    int last = (1 << zoom) - 1;
    return new Segment(
        zoom,
        Math.max(0, Math.min(last, (int) (x * (1 << zoom)))),
        Math.max(0, Math.min(last, (int) (y * (1 << zoom)))));
  }

  /** The segment of a key. */
  static Segment of(Bytes key) {
    int x = 0;
    int y = 0;
    for (int i = 0; i < key.length(); i++) {
      int quarter = key.at(i) - '0';
      x = 2 * x + (quarter & 1);
      y = 2 * y + (quarter >> 1);
    }
    return new Segment(key.length(), x, y);
  }

  /** The key: one digit, 0 to 3, for each zoom level. */
  Bytes key() {
    byte[] digits = new byte[zoom];
    for (int i = 0; i < zoom; i++) {
      int bit = zoom - 1 - i;
      digits[i] = (byte) ('0' + ((x >> bit) & 1) + 2 * ((y >> bit) & 1));
    }
    return Bytes.wrap(digits);
  }
}
