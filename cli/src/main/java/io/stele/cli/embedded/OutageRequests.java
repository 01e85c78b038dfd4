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
  private static final Duration PATIENCE = Duration.ofMinutes(4); // Beyond the outage itself.
  private static final String DONE = "over: ";

  /**
   * A wish.
   *
   * @param time how long it lasts at least
   * @param which of several, counted round; from 0 on
   */
  record Wanted(Outage outage, Duration time, int which) {}

  private final Path asked;
  private final Path answer;

  OutageRequests(Path directory) {
    this.asked = directory.resolve("outage");
    this.answer = directory.resolve("outage.over");
  }

  /**
   * Asks for it, and returns when it is over.
   *
   * @return which of several was away; empty if there is one
   * @throws IOException if it cannot be had, with the reason, or no answer comes
   */
  String ask(Wanted wanted) throws IOException {
    Files.deleteIfExists(answer);
    write(asked, wanted.outage() + " " + wanted.time().toMillis() + " " + wanted.which());
    Deadline deadline = Deadline.after(RUNTIME, wanted.time().plus(PATIENCE));
    Optional<String> said = read(answer);
    while (said.isEmpty()) {
      if (deadline.isOver()) {
        throw new IOException("the embedded Hadoop does not answer: see its logs");
      }
      pause();
      said = read(answer);
    }
    if (!said.get().startsWith(DONE)) {
      throw new IOException("no outage of " + wanted.outage() + ": " + said.get());
    }
    return said.get().substring(DONE.length());
  }

  /** What is asked for now. */
  Optional<Wanted> next() throws IOException {
    Optional<String> text = read(asked);
    if (text.isEmpty()) {
      return Optional.empty();
    }
    String[] words = text.get().split(" ", 3);
    return Optional.of(
        new Wanted(
            Outage.valueOf(words[0]),
            Duration.ofMillis(Long.parseLong(words[1])),
            Integer.parseInt(words[2])));
  }

  /**
   * The outage that was asked for is over.
   *
   * @param which of several was away; empty if there is one
   */
  void over(String which) throws IOException {
    answer(DONE + which);
  }

  /** What was asked for could not be had. */
  void failed(String why) throws IOException {
    answer(why);
  }

  private void answer(String text) throws IOException {
    Files.deleteIfExists(asked);
    write(answer, text);
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
