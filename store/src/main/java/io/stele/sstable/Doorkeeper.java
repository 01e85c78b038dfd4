package io.stele.sstable;

/**
 * Remembers, approximately and for a short time, which keys were asked for once: most keys are
 * never asked for again. Safe for use by any number of threads: a race makes it forget.
 */
final class Doorkeeper {
  private static final int TRIED = 1;

  private final char[] seen;

  /**
   * @param bytesMax the most memory it may take
   */
  Doorkeeper(long bytesMax) {
    this.seen =
        new char[Integer.highestOneBit((int) Math.max(512, Math.min(1 << 21, bytesMax / 2)))];
  }

  /**
   * Whether a key of this hash has been asked for before.
   *
   * @param tried whether this is a try that the same read may repeat: the two count once
   */
  boolean knows(long hash, boolean tried) {
    int place = (int) (hash >>> 32) & (seen.length - 1);
    int fingerprint = (int) hash & 0xfffe;
    int found = seen[place];
    boolean known = (found & ~TRIED) == fingerprint && ((found & TRIED) == 0 || tried);
    if (!known) {
      seen[place] = (char) (fingerprint | (tried ? TRIED : 0));
    }
    return known;
  }
}
