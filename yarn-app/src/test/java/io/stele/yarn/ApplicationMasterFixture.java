package io.stele.yarn;

import io.stele.config.Keys;
import io.stele.files.LocalFilesInProcess;
import io.stele.lock.LockService;
import io.stele.runtime.Task;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.wire.application.ApplicationProtos.ComponentProto;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The ApplicationMaster with a YARN that does as it is asked, on virtual time. */
abstract class ApplicationMasterFixture {
  static final Duration A_WHILE = Duration.ofSeconds(20);
  static final String NO_LOCK_SERVICE = "no ZooKeeper answers at zk:2181";

  final Simulation simulation = new Simulation(1, 1_000_000);
  final SimulatedProcess process = simulation.process("application-master");
  final FakeYarn yarn = new FakeYarn(process);
  final MemoryLockStore store = new MemoryLockStore();
  final Configuration conf = new Configuration();
  final List<Integer> exits = new ArrayList<>();
  ApplicationMaster master;
  boolean lockServiceAway;
  int connects;
  private int attempts;

  @TempDir Path directory;

  @BeforeEach
  void settings() {
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "2");
    LocalFilesInProcess.useIn(conf);
  }

  private LockService connect() throws IOException {
    connects++;
    if (lockServiceAway) {
      throw new IOException(NO_LOCK_SERVICE);
    }
    return store.connect();
  }

  /** Begins an attempt and lets it do what there is to do. */
  Task attempt() throws Exception {
    StateFile stateFile =
        new StateFile(
            conf,
            new org.apache.hadoop.fs.Path(directory.resolve("state").toUri()),
            FakeYarn.attempt(++attempts));
    master =
        new ApplicationMaster(
            FakeYarn.APPLICATION.toString(),
            YarnSettings.of(conf),
            FakeYarn.SUBMITTED,
            listener -> {
              yarn.listener = listener;
              return yarn;
            },
            new ApplicationMaster.Environment(
                process, yarn, yarn, yarn, stateFile, new LockConnection(process, this::connect)));
    ApplicationMaster attempt = master;
    Task task = process.start("application-master", () -> exits.add(run(attempt)));
    process.sleep(A_WHILE);
    return task;
  }

  private static int run(ApplicationMaster attempt) {
    try {
      return attempt.run("host", 1, "http://host:2");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What was called since the last time. */
  List<String> calls() {
    List<String> calls = List.copyOf(yarn.calls);
    yarn.calls.clear();
    return calls;
  }

  List<String> states() {
    return master.status().getComponentsList().stream()
        .map(component -> component.getId() + " " + component.getState())
        .toList();
  }

  String noteOf(String slot) {
    return master.status().getComponentsList().stream()
        .filter(component -> component.getId().equals(slot))
        .map(ComponentProto::getNote)
        .collect(Collectors.joining("\n"));
  }

  int failures(String slot) {
    return master.status().getComponentsList().stream()
        .filter(component -> component.getId().equals(slot))
        .mapToInt(ComponentProto::getFailures)
        .sum();
  }

  int restarts(String slot) {
    return master.status().getComponentsList().stream()
        .filter(component -> component.getId().equals(slot))
        .mapToInt(ComponentProto::getRestarts)
        .sum();
  }
}
