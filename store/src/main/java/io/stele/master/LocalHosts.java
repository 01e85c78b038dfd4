package io.stele.master;

import io.stele.wire.HostShare;
import java.util.ArrayList;
import java.util.List;

/**
 * The hosts on which most bytes of a tablet lie, the best first, in one number: three times 16 bits
 * of the host's number and 5 bits of its share. Shares are rounded to a thirty-first.
 */
final class LocalHosts {
  /** Nothing is known. */
  static final long UNKNOWN = 0;

  private static final int HOSTS = 3;
  private static final int SHARE_BITS = 5;
  private static final int SHARE_MAX = (1 << SHARE_BITS) - 1;
  private static final int BITS = 16 + SHARE_BITS;
  private static final long ONE = (1L << BITS) - 1;
  private static final int PERCENT = 100;

  private LocalHosts() {}

  /** The number for {@code shares}, the best first; of more than three hosts the first three. */
  static long of(List<HostShare> shares, HostNumbers numbers) {
    long localHosts = UNKNOWN;
    int count = 0;
    for (HostShare share : shares) {
      int host = numbers.of(share.host());
      int part = Math.round(share.percent() * SHARE_MAX / (float) PERCENT);
      if (host != HostNumbers.NONE && part > 0 && count < HOSTS) {
        localHosts |= ((long) host << SHARE_BITS | part) << (BITS * count);
        count++;
      }
    }
    return localHosts;
  }

  /** The share of the bytes that lie on a host: 0 to 1. */
  static double share(long localHosts, int host) {
    for (long left = localHosts; left != 0; left >>>= BITS) {
      if ((left & ONE) >>> SHARE_BITS == host) {
        return (left & SHARE_MAX) / (double) SHARE_MAX;
      }
    }
    return 0;
  }

  /** The hosts, the best first. */
  static List<HostShare> shares(long localHosts, HostNumbers numbers) {
    List<HostShare> shares = new ArrayList<>(HOSTS);
    for (long left = localHosts; left != 0; left >>>= BITS) {
      int percent = (int) Math.round((left & SHARE_MAX) * PERCENT / (double) SHARE_MAX);
      shares.add(new HostShare(numbers.name((int) ((left & ONE) >>> SHARE_BITS)), percent));
    }
    return shares;
  }
}
