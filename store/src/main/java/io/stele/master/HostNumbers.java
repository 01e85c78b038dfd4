package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.wire.HostShare;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers for the names of hosts, so that what is known of many tablets takes little memory. Names
 * are compared as {@link HostShare#name} says. A number is never used again.
 *
 * <p>Safe for use by any number of threads.
 */
final class HostNumbers {
  /** No host has this number. */
  static final int NONE = 0;

  /** The largest number; hosts that appear after so many others have none. */
  static final int MAX = (1 << 16) - 1;

  @GuardedBy("this")
  private final Map<String, Integer> numbers = new HashMap<>();

  @GuardedBy("this")
  private final List<String> names = new ArrayList<>(List.of("")); // By number.

  /** The number of a host; {@link #NONE} if none is left for it. */
  synchronized int of(String host) {
    String name = HostShare.name(host);
    Integer known = numbers.get(name);
    if (known != null) {
      return known;
    }
    if (names.size() > MAX) {
      return NONE;
    }
    numbers.put(name, names.size());
    names.add(name);
    return names.size() - 1;
  }

  /** The host with this number, in lower case. */
  synchronized String name(int number) {
    return names.get(number);
  }
}
