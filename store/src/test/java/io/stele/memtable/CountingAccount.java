package io.stele.memtable;

import java.util.concurrent.atomic.AtomicLong;

/** An account that only adds up. */
public final class CountingAccount implements MemoryAccount {
  private final AtomicLong bytes = new AtomicLong();

  @Override
  public void take(long taken) {
    bytes.addAndGet(taken);
  }

  @Override
  public void release(long gone) {
    bytes.addAndGet(-gone);
  }

  /** What is taken and not let go. */
  public long bytes() {
    return bytes.get();
  }
}
