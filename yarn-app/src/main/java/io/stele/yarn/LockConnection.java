package io.stele.yarn;

import io.stele.lock.LockService;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

/**
 * The cluster's lock service, connected to when first needed: the ApplicationMaster works without
 * it as far as it can. Safe for use by several threads.
 */
final class LockConnection implements AutoCloseable {
  private final IoCallable<LockService> connector;
  private final Lock connecting;
  private volatile Optional<LockService> locks = Optional.empty(); // Changed under connecting.

  /**
   * Not connected yet.
   *
   * @param connector connects to the lock service
   */
  LockConnection(ProcessRuntime runtime, IoCallable<LockService> connector) {
    this.connector = connector;
    this.connecting = runtime.newLock();
  }

  /**
   * The service. Blocks where it has yet to be connected to.
   *
   * @throws IOException if it does not answer; the next call tries again
   */
  LockService get() throws IOException {
    Optional<LockService> known = locks;
    if (known.isPresent()) {
      return known.get();
    }
    connecting.lock();
    try {
      if (locks.isEmpty()) {
        locks = Optional.of(connector.call());
      }
      return locks.get();
    } finally {
      connecting.unlock();
    }
  }

  @Override
  public void close() {
    connecting.lock();
    try {
      locks.ifPresent(LockService::close);
    } finally {
      connecting.unlock();
    }
  }
}
