package io.stele.cli;

import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;

/**
 * Why a job failed in MapReduce's local runner, which tells that to its log and to nobody else. It
 * listens from when it is made until it is closed, whether or not the log is shown. For one thread.
 */
final class LocalRunnerLog implements AutoCloseable {
  /** The runner logs why a job has failed right after it has said that it has. */
  private static final Duration LOGGED_WITHIN = Duration.ofSeconds(1);

  private final ProcessRuntime runtime;
  private final Logger logger = Logger.getLogger("org.apache.hadoop.mapred.LocalJobRunner");
  private final Optional<Level> level = Optional.ofNullable(logger.getLevel());
  private final boolean additive = logger.getAdditivity();
  private final Listener listener = new Listener();

  private static final class Listener extends AppenderSkeleton {
    private final CompletableFuture<Optional<Throwable>> failure = new CompletableFuture<>();

    /** The runner logs an exception with the id of a job alone if that has failed. */
    @Override
    protected void append(LoggingEvent event) {
      if (event.getThrowableInformation() != null
          && event.getRenderedMessage().startsWith("job_local")) {
        failure.complete(Optional.of(event.getThrowableInformation().getThrowable()));
      }
    }

    @Override
    public void close() {}

    @Override
    public boolean requiresLayout() {
      return false;
    }
  }

  LocalRunnerLog(ProcessRuntime runtime) {
    this.runtime = runtime;
    if (!logger.isEnabledFor(Level.WARN)) { // Nobody wants to see it: only this listens.
      logger.setLevel(Level.WARN);
      logger.setAdditivity(false);
    }
    logger.addAppender(listener);
  }

  /** Why the job that has failed has failed; empty if another kind of log is in use. */
  Optional<Throwable> failure() throws InterruptedException {
    runtime.await(listener.failure, LOGGED_WITHIN);
    return listener.failure.getNow(Optional.empty());
  }

  @Override
  public void close() {
    logger.removeAppender(listener);
    logger.setLevel(level.orElse(null));
    logger.setAdditivity(additive);
  }
}
