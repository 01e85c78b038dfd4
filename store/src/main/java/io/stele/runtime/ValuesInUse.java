package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Values by key, each made when it is first asked for. When others are made, those are dropped that
 * nobody has asked for in a while, if they are idle: so the memory does not grow with every key
 * that ever was.
 *
 * <p>Safe for use by any number of threads. To ask for a known value takes no lock.
 */
public final class ValuesInUse<K, V> {
  private final ProcessRuntime runtime;
  private final Duration unusedMax;
  private final Function<K, V> make;
  private final Predicate<V> isIdle;
  private final ConcurrentMap<K, Entry<V>> entries = new ConcurrentHashMap<>();

  @GuardedBy("this")
  private long sweptNanos;

  private static final class Entry<V> {
    final V value;

    /** Whether it was asked for since the last sweep. */
    volatile boolean used;

    /** Whether it is dropped, or may be in a moment. */
    volatile boolean dropped;

    Entry(V value) {
      this.value = value;
    }
  }

  /**
   * No values yet.
   *
   * @param unusedMax a value stays for at least this long after it was asked for, and for about
   *     twice as long at most if others are made
   * @param make the value of a key
   * @param isIdle whether a value may be dropped; must not ask for values
   */
  public ValuesInUse(
      ProcessRuntime runtime, Duration unusedMax, Function<K, V> make, Predicate<V> isIdle) {
    this.runtime = runtime;
    this.unusedMax = unusedMax;
    this.make = make;
    this.isIdle = isIdle;
    this.sweptNanos = runtime.nanoTime();
  }

  /** The value of {@code key}. */
  public V get(K key) {
    while (true) {
      Entry<V> entry = entries.get(key);
      if (entry == null) {
        sweepIfDue();
        entry = entries.computeIfAbsent(key, one -> new Entry<>(make.apply(one)));
      }
      if (!entry.used) {
        entry.used = true; // Before the next line, as the sweep asks in the other order.
      }
      if (!entry.dropped) {
        return entry.value;
      }
      Thread.onSpinWait(); // The sweep decides about it now.
    }
  }

  /** All of them. */
  public List<V> values() {
    return entries.values().stream().map(entry -> entry.value).toList();
  }

  private synchronized void sweepIfDue() {
    long now = runtime.nanoTime();
    if (now - sweptNanos < unusedMax.toNanos()) {
      return;
    }
    sweptNanos = now;
    for (Map.Entry<K, Entry<V>> one : entries.entrySet()) {
      Entry<V> entry = one.getValue();
      if (entry.used) {
        entry.used = false;
        continue;
      }
      entry.dropped = true;
      if (!entry.used && isIdle.test(entry.value)) {
        entries.remove(one.getKey(), entry);
      } else {
        entry.dropped = false;
      }
    }
  }
}
