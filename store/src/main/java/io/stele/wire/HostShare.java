package io.stele.wire;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * How many of the bytes of a tablet's SSTables a host has.
 *
 * @param host its {@link #name}
 * @param percent the share of the bytes that lie on it, 0 to 100; hosts of other copies of the same
 *     bytes have them too, so the shares of all hosts sum up to more than 100
 */
public record HostShare(String host, int percent) {
  private static final Pattern LOOPBACK =
      Pattern.compile("127(\\.\\d{1,3}){3}|::1|0:0:0:0:0:0:0:1");

  public HostShare {
    if (percent < 0 || percent > 100) {
      throw new IllegalArgumentException("a share is 0 to 100 %, not " + percent);
    }
  }

  /**
   * The name by which a host is compared with others: upper and lower case are the same, and so are
   * the names and addresses by which a machine calls itself. A cluster on one machine uses several
   * of these.
   */
  public static String name(String host) {
    String name = host.toLowerCase(Locale.ROOT);
    return LOOPBACK.matcher(name).matches() ? "localhost" : name;
  }
}
