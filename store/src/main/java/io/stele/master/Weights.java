package io.stele.master;

/**
 * What loads weigh: an average tablet weighs one. Number, bytes and requests have equal parts in
 * that, as far as there are any bytes and requests.
 */
record Weights(double perTablet, double perByte, double perRequest) {
  private static final long BYTES_THAT_COUNT = 1 << 20; // Of an average tablet.
  private static final double RATE_THAT_COUNTS = 1; // Likewise, a second.
  private static final double SLACK_MIN = 0.5;

  /** The weights in a cluster that has all this. */
  static Weights of(int count, long bytes, double rate) {
    double tablets = Math.max(1, count);
    boolean byBytes = bytes / tablets >= BYTES_THAT_COUNT;
    boolean byRate = rate / tablets >= RATE_THAT_COUNTS;
    double each = 1.0 / (1 + (byBytes ? 1 : 0) + (byRate ? 1 : 0));
    return new Weights(
        each, byBytes ? each * tablets / bytes : 0, byRate ? each * tablets / rate : 0);
  }

  /** What {@code tablets} with these bytes and requests weigh together. */
  double weigh(int tablets, long bytes, double rate) {
    return perTablet * tablets + perByte * bytes + perRequest * rate;
  }

  double weigh(ServerLoads.Tablet tablet) {
    return weigh(1, tablet.bytes(), tablet.rate());
  }

  double weigh(ServerLoads.Sum sum) {
    return weigh(sum.count(), sum.bytes(), sum.rate());
  }

  /** What each of {@code servers} weighs if so many tablets are even. */
  static double mean(int tablets, int servers) {
    return tablets / (double) Math.max(1, servers);
  }

  /** By how much servers may differ from {@code mean}, of which it is the part {@code share}. */
  static double slack(double mean, double share) {
    return Math.max(SLACK_MIN, share * mean);
  }
}
