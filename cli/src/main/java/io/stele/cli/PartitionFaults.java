package io.stele.cli;

import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Stele;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Processes of the cluster are cut off from ZooKeeper, and still reach HDFS, clients and each
 * other: a server that lost its tablets has all it needs to answer for them. For one thread.
 */
final class PartitionFaults {
  // Less than the session's default of 10 s: its lease ends, its session does not.
  private static final Duration SHORT_MAX = Duration.ofSeconds(8);
  // Three times the session's default: others have its tablets long before.
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SOME_MAX = Duration.ofSeconds(25);

  private final TortureScene scene;

  PartitionFaults(TortureScene scene) {
    this.scene = scene;
  }

  /** All of them. */
  List<TortureFault> all() {
    return List.of(
        fault("cut-server", stele -> cut(any(servers()), scene.upTo(SHORT_MAX))),
        fault("cut-server-long", stele -> cut(any(servers()), LONG)),
        fault("cut-servers", stele -> cut(servers(), scene.upTo(SOME_MAX))),
        fault("cut-master", stele -> cut(activeMaster(stele), scene.upTo(SOME_MAX))),
        fault("cut-masters", stele -> cut(masters(), scene.upTo(SOME_MAX))));
  }

  private static TortureFault fault(String name, TortureFault.Injection injection) {
    return TortureFault.of(name, "cut off from ZooKeeper", injection);
  }

  private Optional<String> cut(List<TaggedProcess> processes, Duration time)
      throws IOException, InterruptedException {
    if (processes.isEmpty()) {
      return Optional.empty();
    }
    TortureRelay relay = scene.ownZooKeeper();
    Set<Long> pids = processes.stream().map(TaggedProcess::pid).collect(Collectors.toSet());
    long start = scene.runtime().nanoTime();
    relay.cutOff(pids);
    try {
      scene.pause(time);
    } finally {
      relay.reconnect();
    }
    long seconds = Duration.ofNanos(scene.runtime().nanoTime() - start).toSeconds();
    String names = processes.stream().map(ProcessFaults::name).collect(Collectors.joining(", "));
    return Optional.of(names + " for " + seconds + " s");
  }

  private List<TaggedProcess> any(List<TaggedProcess> processes) {
    return scene.any(processes).stream().toList();
  }

  private List<TaggedProcess> servers() {
    return ProcessFaults.some(scene, ProcessFaults::isTabletServer);
  }

  private List<TaggedProcess> masters() {
    return ProcessFaults.some(scene, ProcessFaults::isMaster);
  }

  /** The master that the cluster says is its master; none if that has just ended. */
  private List<TaggedProcess> activeMaster(Stele stele) throws IOException {
    return mastersAt(stele.admin().clusterStatus().master());
  }

  /** The masters that listen at an address, host:port. */
  List<TaggedProcess> mastersAt(String address) throws IOException {
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    List<TaggedProcess> found = new ArrayList<>();
    for (TaggedProcess master : masters()) {
      if (ProcessSockets.of(master.pid()).contains(ProcessSockets.TcpSocket.listening(port))) {
        found.add(master);
      }
    }
    return found;
  }
}
