package io.stele.cli;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.runtime.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Processes of the cluster are killed, or suspended for a while. For one thread. */
final class ProcessFaults {
  private static final Duration STOPPED_MAX = Duration.ofSeconds(25);
  // Six times the session's default: others have its tablets long before.
  private static final Duration LONG_STOP = Duration.ofSeconds(60);
  // YARN by default gives an application up whose ApplicationMaster fails twice in five minutes.
  private static final Duration APPLICATION_MASTER_EVERY = Duration.ofMinutes(6);

  private final TortureScene scene;
  private Optional<Deadline> nextApplicationMaster = Optional.empty();

  ProcessFaults(TortureScene scene) {
    this.scene = scene;
  }

  /** All of them. */
  List<TortureFault> all() {
    return List.of(
        TortureFault.of("kill-server", "kill -9", stele -> kill(ProcessFaults::isTabletServer)),
        TortureFault.of(
            "stop-server",
            "kill -STOP, then -CONT",
            stele -> stopAndContinue(ProcessFaults::isTabletServer, scene.upTo(STOPPED_MAX))),
        TortureFault.of(
            "stop-server-long",
            "kill -STOP, then -CONT",
            stele -> stopAndContinue(ProcessFaults::isTabletServer, LONG_STOP)),
        TortureFault.of("kill-master", "kill -9", stele -> kill(ProcessFaults::isMaster)),
        TortureFault.of(
            "stop-master",
            "kill -STOP, then -CONT",
            stele -> stopAndContinue(ProcessFaults::isMaster, scene.upTo(STOPPED_MAX))),
        TortureFault.of("kill-am", "kill -9", stele -> killApplicationMaster()));
  }

  private Optional<String> kill(Predicate<TaggedProcess> which) {
    Optional<TaggedProcess> process = any(which);
    process.ifPresent(TaggedProcess::kill);
    return process.map(ProcessFaults::name);
  }

  private Optional<String> killApplicationMaster() {
    if (nextApplicationMaster.filter(next -> !next.isOver()).isPresent()) {
      return Optional.empty();
    }
    nextApplicationMaster = Optional.of(Deadline.after(scene.runtime(), APPLICATION_MASTER_EVERY));
    return kill(process -> process.command().contains("io.stele.yarn.ApplicationMasterMain"));
  }

  private Optional<String> stopAndContinue(Predicate<TaggedProcess> which, Duration time)
      throws IOException, InterruptedException {
    Optional<TaggedProcess> process = any(which);
    if (process.isEmpty()) {
      return Optional.empty();
    }
    long start = scene.runtime().nanoTime();
    process.get().stop();
    try {
      scene.pause(time);
    } finally {
      process.get().resume();
    }
    long seconds = Duration.ofNanos(scene.runtime().nanoTime() - start).toSeconds();
    return Optional.of(name(process.get()) + " after " + seconds + " s");
  }

  private Optional<TaggedProcess> any(Predicate<TaggedProcess> which) {
    return scene.any(some(scene, which));
  }

  /** The Java processes of a kind. */
  static List<TaggedProcess> some(TortureScene scene, Predicate<TaggedProcess> which) {
    return EmbeddedHadoop.processes(scene.ownHadoop()).stream()
        .filter(TaggedProcess::isJava)
        .filter(which)
        .toList();
  }

  static boolean isTabletServer(TaggedProcess process) {
    return process.component().filter(name -> name.startsWith("tabletserver")).isPresent();
  }

  static boolean isMaster(TaggedProcess process) {
    return process.component().filter(name -> name.startsWith("master")).isPresent();
  }

  static String name(TaggedProcess process) {
    return process.component().orElse("the ApplicationMaster") + " (" + process.pid() + ")";
  }
}
