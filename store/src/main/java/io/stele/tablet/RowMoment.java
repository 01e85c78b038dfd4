package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;

/**
 * What decides, beside the read point, which cells of a row a read sees. All parts of a row are
 * read at the moment of the first, or the row is not one.
 *
 * <p>It belongs to one opening of a tablet: what its server, or another, has dropped before is not
 * known after it was opened again.
 *
 * <pre>
 * moment := tablet:prefixed epoch:varlong opened:varlong rules:varlong clock:varlong
 *           expiries:varlong
 * </pre>
 *
 * @param tablet the tablet's name
 * @param epoch of the assignment under which it was opened
 * @param openedMicros when it was opened, by its own clock
 * @param rules which of the rules since then
 * @param clockMicros the time from which ages are computed
 * @param expiry what was dropped for its age since then; only the count is encoded
 */
record RowMoment(
    Bytes tablet,
    long epoch,
    long openedMicros,
    long rules,
    long clockMicros,
    TabletState.Expiry expiry) {
  /**
   * By how much the clock may differ from that of a row's first part. The cells that are too old
   * are shown no longer than this.
   */
  private static final long CLOCK_MICROS_MAX = 24 * 3600 * 1_000_000L;

  RowMoment {
    if (clockMicros < 0) {
      throw new IllegalArgumentException("a clock shows " + clockMicros);
    }
  }

  /** Whether a row that was begun at this moment can go on, when {@code now} is the present. */
  boolean goesOn(RowMoment now) {
    return tablet.equals(now.tablet)
        && epoch == now.epoch
        && openedMicros == now.openedMicros
        && rules == now.rules
        && Math.abs(clockMicros - now.clockMicros) <= CLOCK_MICROS_MAX
        && (expiry.count() == now.expiry.count() || now.expiry.untilMicros() <= clockMicros);
  }

  void writeTo(ByteWriter out) {
    out.writePrefixed(tablet)
        .writeVarlong(epoch)
        .writeVarlong(openedMicros)
        .writeVarlong(rules)
        .writeVarlong(clockMicros)
        .writeVarlong(expiry.count());
  }

  static RowMoment read(ByteReader in) throws MalformedException {
    Bytes tablet = in.readPrefixed();
    long epoch = in.readVarlong();
    long opened = in.readVarlong();
    long rules = in.readVarlong();
    long clock = in.readVarlong();
    if (clock < 0) {
      throw in.malformed("its clock is below 0");
    }
    return new RowMoment(
        tablet, epoch, opened, rules, clock, new TabletState.Expiry(in.readVarlong(), clock));
  }
}
