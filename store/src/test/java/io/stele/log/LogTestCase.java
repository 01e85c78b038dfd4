package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;

/** Tests of commit logs on a {@link CrashableFileSystem}, with the system's clocks and threads. */
abstract class LogTestCase {
  static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  static final LogOptions OPTIONS = LogOptions.DEFAULT.withRetries(5, Duration.ofMillis(1));

  final CrashableFileSystem fs = CrashableFileSystem.create();
  final CompletableFuture<IOException> failure = new CompletableFuture<>();

  @BeforeEach
  void makeDirectory() throws IOException {
    LogDirectory.create(fs, DIRECTORY);
  }

  final CommitLog open(TabletKind kind, LogOptions options) throws IOException {
    return CommitLog.open(
        SystemRuntime.INSTANCE,
        new LogLocation(fs, DIRECTORY, SERVER, kind),
        options,
        failure::complete);
  }

  /** A log whose standby is there, so that the next flush is one of the test's. */
  final CommitLog open(LogOptions options) throws Exception {
    CommitLog log = open(TabletKind.USER, options);
    log.awaitStandby();
    return log;
  }

  static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // By JUnit's time limit.
      Thread.yield();
    }
  }
}
