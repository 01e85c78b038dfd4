package io.stele.runtime;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The runtime of a real process: the machine's clocks, and threads of this JVM. */
public final class SystemRuntime implements ProcessRuntime {
  /** The one of this JVM. */
  public static final SystemRuntime INSTANCE = new SystemRuntime();

  private static final Logger LOG = LoggerFactory.getLogger(SystemRuntime.class);
  private static final long IDLE_SECONDS = 60;

  private final SecureRandom random = new SecureRandom();
  private final ScheduledThreadPoolExecutor timers;

  private SystemRuntime() {
    timers = new ScheduledThreadPoolExecutor(1, named("stele-timer"));
    timers.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    timers.allowCoreThreadTimeOut(true);
    timers.setRemoveOnCancelPolicy(true);
  }

  /** Runs {@code work} when the process is asked to end. */
  public static AtExit atExit(String name, Runnable work) {
    Thread hook = new Thread(work, name);
    Runtime.getRuntime().addShutdownHook(hook);
    return () -> {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        LOG.debug("The process is ending: {} is done", name, e);
      }
    };
  }

  /** Whether the process is ending: what was to be done then is being done. */
  public static boolean isEnding() {
    Thread probe = new Thread(() -> {});
    try {
      Runtime.getRuntime().addShutdownHook(probe);
      Runtime.getRuntime().removeShutdownHook(probe);
      return false;
    } catch (IllegalStateException e) {
      LOG.debug("The process is ending", e);
      return true;
    }
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public InstantSource wallClock() {
    return InstantSource.system();
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  @Override
  public Task start(String name, Runnable work) {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } finally {
                ended.complete(null);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
    return new Task() {
      @Override
      public void interrupt() {
        thread.interrupt();
      }

      @Override
      public void clearInterrupt() {
        Thread.interrupted();
      }

      @Override
      public boolean isCurrent() {
        return Thread.currentThread() == thread;
      }

      @Override
      public CompletableFuture<Void> ended() {
        return ended.copy();
      }
    };
  }

  @Override
  public WorkerPool pool(String name, int threadsMax) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threadsMax,
            threadsMax,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            named(name));
    pool.allowCoreThreadTimeOut(true);
    return new WorkerPool() {
      @Override
      public void execute(Runnable work) {
        pool.execute(work);
      }

      @Override
      public void close() {
        pool.shutdownNow();
      }
    };
  }

  @Override
  public Timer after(Duration delay, Runnable work) {
    ScheduledFuture<?> later =
        timers.schedule(
            () -> {
              try {
                work.run();
              } catch (RuntimeException | Error e) {
                LOG.error("A timer failed", e); // Its future is looked at by nobody.
                throw e;
              }
            },
            delay.toNanos(),
            TimeUnit.NANOSECONDS);
    return () -> later.cancel(false);
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep(duration.toNanos());
  }

  @Override
  public <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
    return future.get();
  }

  @Override
  public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
    try {
      future.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException | CancellationException e) {
      return true; // It is done anyway; its result reports the failure.
    } catch (TimeoutException e) {
      return false;
    }
  }

  @Override
  public Lock newLock() {
    return new ReentrantLock();
  }

  private static ThreadFactory named(String name) {
    AtomicInteger number = new AtomicInteger();
    return work -> {
      Thread thread = new Thread(work, name + "-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }
}
