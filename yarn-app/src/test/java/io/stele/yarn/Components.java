package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** Looks at the components of an application, and waits for them. */
final class Components {
  private static final Duration WAIT_MAX = Duration.ofSeconds(150);
  private static final long LOOK_EVERY_MILLIS = 100;

  private Components() {}

  /** The component; of two in one place, one of which replaces the other, the first. */
  static ComponentStatus component(ApplicationStatus status, String id) {
    return status.components().stream().filter(c -> c.id().equals(id)).findFirst().orElseThrow();
  }

  /** The nodes on which components of the kind are. */
  static Collection<String> nodesOf(ApplicationStatus status, String kind) {
    return status.components().stream()
        .filter(c -> c.id().startsWith(kind))
        .map(ComponentStatus::node)
        .collect(Collectors.toSet());
  }

  /** The process of the component, by its container: a command names its log directory. */
  static Optional<ProcessHandle> process(TestCluster cluster, ComponentStatus component) {
    return cluster.processes().stream()
        .filter(process -> TestCluster.commandLine(process).contains(component.container()))
        .findFirst();
  }

  /** The processes of all components, once all run. */
  static Map<String, ProcessHandle> processes(
      TestCluster cluster, Callable<Optional<ApplicationStatus>> status) throws Exception {
    return await(
        "all processes",
        () -> {
          Optional<ApplicationStatus> now = status.call().filter(ApplicationStatus::complete);
          Map<String, ProcessHandle> found = new HashMap<>();
          if (now.isPresent()) {
            now.get()
                .components()
                .forEach(c -> process(cluster, c).ifPresent(one -> found.put(c.id(), one)));
          }
          // For a moment after its start a process is still the shell that becomes Java.
          return Optional.of(found)
              .filter(all -> now.isPresent() && all.size() == now.get().components().size());
        });
  }

  /** Kills the process, as by kill -9. */
  static void kill(ProcessHandle process) throws Exception {
    assertThat(process.destroyForcibly()).isTrue();
    process.onExit().get();
  }

  /** Waits until {@code condition} holds. */
  static void awaitThat(String what, Callable<Boolean> condition) throws Exception {
    await(what, () -> condition.call() ? Optional.of(true) : Optional.empty());
  }

  /** Waits until there is a value. If looking fails with an I/O error, there is none yet. */
  static <T> T await(String what, Callable<Optional<T>> value) throws Exception {
    long deadline = System.nanoTime() + WAIT_MAX.toNanos();
    Optional<IOException> failure = Optional.empty();
    while (true) {
      try {
        Optional<T> found = value.call();
        if (found.isPresent()) {
          return found.get();
        }
        failure = Optional.empty();
      } catch (IOException e) {
        failure = Optional.of(e);
      }
      assertThat(System.nanoTime())
          .as("awaited in vain: %s; the last failure: %s", what, failure)
          .isLessThan(deadline);
      Thread.sleep(LOOK_EVERY_MILLIS);
    }
  }
}
