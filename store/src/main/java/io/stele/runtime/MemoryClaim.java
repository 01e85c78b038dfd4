package io.stele.runtime;

/**
 * Work that takes much memory asks for it here first. The creator of the claim gives the memory
 * back when the work has ended.
 */
@FunctionalInterface
public interface MemoryClaim {
  /** Gives everything and counts nothing. */
  MemoryClaim NONE = bytes -> {};

  /**
   * Takes memory.
   *
   * @throws io.stele.model.SteleException where there is none: RETRY_LATER, or REFUSED where there
   *     never is so much
   */
  void take(long bytes);

  /**
   * Long work calls this now and then.
   *
   * @throws io.stele.model.SteleException RETRY_LATER if nobody waits for its result any more
   */
  default void requireWanted() {}

  /** One that asks this one for many small takings together. For use by one thread. */
  default MemoryClaim inSteps() {
    return new MemoryClaim() {
      private static final long STEP_BYTES = 64 << 10;

      private long gathered;

      @Override
      public void take(long bytes) {
        gathered += bytes;
        if (gathered >= STEP_BYTES) {
          long all = gathered;
          gathered = 0;
          MemoryClaim.this.take(all);
        }
      }

      @Override
      public void requireWanted() {
        MemoryClaim.this.requireWanted();
      }
    };
  }
}
