package io.stele.cli.embedded;

import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Optional;

/**
 * How another process asks the daemons' JVM for an outage: a file in its work directory names it;
 * when the outage is over, a second one says how it went. One at a time.
 *
 * <p>For one thread on each side.
 */
final class OutageRequests {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final Duration PATIENCE = Duration.ofMinutes(2); // Beyond the outage itself.

  /**
   * A wish.
   *
   * @param time how long it lasts at least
   */
  record Wanted(Outage outage, Duration time) {}

  private final Path asked;
  private final Path answer;

  OutageRequests(Path directory) {
    this.asked = directory.resolve("outage");
    this.answer = directory.resolve("outage.over");
  }

  /**
   * Asks for it, and returns when it is over.
   *
   * @throws IOException if it cannot be had, with the reason, or no answer comes
   */
  void ask(Wanted wanted) throws IOException {
    Files.deleteIfExists(answer);
    write(asked, wanted.outage() + " " + wanted.time().toMillis());
    Deadline deadline = Deadline.after(RUNTIME, wanted.time().plus(PATIENCE));
    Optional<String> said = read(answer);
    while (said.isEmpty()) {
      if (deadline.isOver()) {
        throw new IOException("the embedded Hadoop does not answer: see its logs");
      }
      pause();
      said = read(answer);
    }
    if (!said.get().isEmpty()) {
      throw new IOException("no outage of " + wanted.outage() + ": " + said.get());
    }
  }

  /** What is asked for now. */
  Optional<Wanted> next() throws IOException {
    Optional<String> text = read(asked);
    if (text.isEmpty()) {
      return Optional.empty();
    }
    String[] words = text.get().split(" ", 2);
    return Optional.of(
        new Wanted(Outage.valueOf(words[0]), Duration.ofMillis(Long.parseLong(words[1]))));
  }

  /** The outage that was asked for is over, or could not be had for the reason {@code why}. */
  void over(Optional<String> why) throws IOException {
    Files.deleteIfExists(asked);
    write(answer, why.orElse(""));
  }

  static void pause() throws IOException {
    try {
      RUNTIME.sleep(LOOK_EVERY);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for an outage");
    }
  }

  private static Optional<String> read(Path file) throws IOException {
    try {
      return Optional.of(Files.readString(file));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static void write(Path file, String text) throws IOException {
    Path draft = file.resolveSibling(file.getFileName() + ".new");
    Files.writeString(draft, text);
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
