package io.stele.metadata;

import io.stele.runtime.ProcessRuntime;
import java.util.random.RandomGenerator;

/** Random names that are unique in practice. */
public final class UniqueName {
  private UniqueName() {}

  /** 128 random bits in hexadecimal digits. */
  public static String of(ProcessRuntime runtime) {
    RandomGenerator random = runtime.random();
    return String.format("%016x%016x", random.nextLong(), random.nextLong());
  }
}
