package io.stele.cli.embedded;

import io.stele.runtime.Futures;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * A process of an embedded Hadoop: its daemons' JVM, or one of a container.
 *
 * @param pid its process id
 * @param environment what it was started with; empty if the system does not tell
 * @param command its command line, as far as the system tells
 */
public record TaggedProcess(long pid, Map<String, String> environment, String command) {
  public TaggedProcess {
    environment = Map.copyOf(environment);
  }

  /**
   * The component of Stele that it runs, such as {@code tabletserver-1}; the shells around it carry
   * the name too.
   */
  public Optional<String> component() {
    return Optional.ofNullable(environment.get("STELE_COMPONENT"));
  }

  /** Whether it is a Java virtual machine, and not a shell that waits for one. */
  public boolean isJava() {
    String program = command.split(" ", 2)[0];
    return program.equals("java") || program.endsWith("/java");
  }

  /** Ends it at once, as {@code kill -9} does. */
  public void kill() {
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
  }

  /** Asks it to end, as {@code kill} does; nothing if it has ended. */
  public void terminate() throws IOException {
    signal("-TERM");
  }

  /** Stops it until {@link #resume}, as {@code kill -STOP} does; nothing if it has ended. */
  public void stop() throws IOException {
    signal("-STOP");
  }

  /** Lets it go on; nothing if it has ended. */
  public void resume() throws IOException {
    signal("-CONT");
  }

  private void signal(String signal) throws IOException {
    Process kill =
        new ProcessBuilder("kill", signal, Long.toString(pid))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      kill.waitFor(); // It fails if the process has ended, which is as good.
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "sending " + signal + " to process " + pid);
    }
  }
}
