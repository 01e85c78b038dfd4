package io.stele.wire;

import java.util.Locale;

/**
 * How many of the bytes of a tablet's SSTables a host has.
 *
 * @param host its {@link #name}
 * @param percent the share of the bytes that lie on it, 0 to 100; hosts of other copies of the same
 *     bytes have them too, so the shares of all hosts sum up to more than 100
 */
public record HostShare(String host, int percent) {
  public HostShare {
    if (percent < 0 || percent > 100) {
      throw new IllegalArgumentException("a share is 0 to 100 %, not " + percent);
    }
  }

  /** The name by which a host is compared with others: upper and lower case are the same. */
  public static String name(String host) {
    return host.toLowerCase(Locale.ROOT);
  }
}
