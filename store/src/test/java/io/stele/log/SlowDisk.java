package io.stele.log;

import io.stele.runtime.ForwardingRuntime;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.hadoop.fs.Path;

/** Makes one operation hang until the test lets it go on, and a clock that only the test moves. */
final class SlowDisk {
  private SlowDisk() {}

  /** A clock that stands still until it is moved. */
  static final class Clock extends ForwardingRuntime {
    private final AtomicLong nanos = new AtomicLong();

    private final AtomicLong looks = new AtomicLong();

    @Override
    public long nanoTime() {
      looks.incrementAndGet();
      return nanos.get();
    }

    /** Returns when the log has asked for the time so often: while a stream hangs, its watch. */
    void awaitLooks(int count) {
      long end = looks.get() + count;
      while (looks.get() < end && !Thread.currentThread().isInterrupted()) {
        Thread.onSpinWait();
      }
    }

    void pass(Duration time) {
      nanos.addAndGet(time.toNanos());
    }
  }

  /** Flushes, writes, closes and creations hang now and then, until they are let go. */
  static final class RandomHangs implements FaultInjector {
    private final Random random;
    private final double probability;
    private final Set<CountDownLatch> hanging = new HashSet<>();
    private boolean over;

    RandomHangs(Random random, double probability) {
      this.random = random;
      this.probability = probability;
    }

    synchronized boolean any() {
      return !hanging.isEmpty();
    }

    /** Lets go what hangs now. */
    synchronized void letGo() {
      hanging.forEach(CountDownLatch::countDown);
      hanging.clear();
    }

    /** Lets go what hangs, and nothing hangs any more. */
    synchronized void letGoForEver() {
      over = true;
      letGo();
    }

    private synchronized Optional<CountDownLatch> hang() {
      if (over || random.nextDouble() >= probability) {
        return Optional.empty();
      }
      CountDownLatch latch = new CountDownLatch(1);
      hanging.add(latch);
      return Optional.of(latch);
    }

    @Override
    public Optional<Effect> before(Operation asked, Path path) {
      switch (asked) {
        case WRITE, FLUSH, CLOSE, CREATE -> {
          Optional<CountDownLatch> latch = hang();
          if (latch.isPresent()) {
            try {
              latch.get().await();
            } catch (InterruptedException e) {
              return Optional.of(new Effect.Fail()); // As HDFS's streams do.
            }
          }
          return Optional.empty();
        }
        case OPEN, READ, RENAME, DELETE, LIST, STATUS, MKDIRS -> {
          return Optional.empty();
        }
      }
      return Optional.empty();
    }
  }

  /** The next operation of a kind on a file hangs. */
  static final class Hang implements FaultInjector {
    private final Operation operation;
    private final Predicate<Path> files;
    private final boolean interruptible;
    private final CountDownLatch hanging = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile Optional<Effect> outcome = Optional.empty();
    private volatile boolean interrupted;

    private Hang(Operation operation, Predicate<Path> files, boolean interruptible) {
      this.operation = operation;
      this.files = files;
      this.interruptible = interruptible;
    }

    static Hang of(Operation operation, String file) {
      return new Hang(operation, path -> path.getName().equals(file), false);
    }

    /** One that an interrupt ends, with an exception, as HDFS's are. */
    static Hang interruptible(Operation operation, String file) {
      return new Hang(operation, path -> path.getName().equals(file), true);
    }

    /** Returns when the operation hangs. */
    void await() throws InterruptedException {
      hanging.await();
    }

    /** Whether somebody has interrupted it in vain. */
    boolean wasInterrupted() {
      return interrupted;
    }

    /** Lets it be done. */
    void succeed() {
      goOn.countDown();
    }

    /** Lets it fail, done or not. */
    void fail(Effect how) {
      outcome = Optional.of(how);
      goOn.countDown();
    }

    @Override
    public Optional<Effect> before(Operation asked, Path path) {
      if (asked != operation || !files.test(path) || hanging.getCount() == 0) {
        return Optional.empty();
      }
      hanging.countDown();
      while (true) {
        try {
          goOn.await();
          break;
        } catch (InterruptedException e) {
          if (interruptible) {
            return Optional.of(new Effect.Fail());
          }
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      return outcome;
    }
  }
}
