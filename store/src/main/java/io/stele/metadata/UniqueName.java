package io.stele.metadata;

import io.stele.runtime.ProcessRuntime;
import java.util.random.RandomGenerator;

/** Names that nobody else draws. */
final class UniqueName {
  private UniqueName() {}

  /** 128 random bits in hexadecimal digits. */
  static String of(ProcessRuntime runtime) {
    RandomGenerator random = runtime.random();
    return String.format("%016x%016x", random.nextLong(), random.nextLong());
  }
}
