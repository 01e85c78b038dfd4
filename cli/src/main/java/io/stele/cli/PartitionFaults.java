package io.stele.cli;

import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Stele;
import io.stele.runtime.IoFunction;
import io.stele.wire.Address;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Processes of the cluster are cut off from ZooKeeper, and still reach HDFS, clients and each
 * other: a server that lost its tablets has all it needs to answer for them. Or they are cut off
 * from the NameNode, and still reach everything else: they keep their locks, read and write what is
 * open, and can open, close and rename nothing. Or tablet servers and masters are cut off from each
 * other, and from nothing else: those keep their locks and tablets, and neither hears of the other.
 * Or a tablet server is cut off from clients alone. Where only the answers are lost, who asked does
 * not know what became of it. For one thread.
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
        fromZooKeeper("cut-server", stele -> any(servers()), () -> scene.upTo(SHORT_MAX)),
        fromZooKeeper("cut-server-long", stele -> any(servers()), () -> LONG),
        fromZooKeeper("cut-servers", stele -> servers(), () -> scene.upTo(SOME_MAX)),
        fromZooKeeper("cut-master", this::activeMaster, () -> scene.upTo(SOME_MAX)),
        fromZooKeeper("cut-masters", stele -> masters(), () -> scene.upTo(SOME_MAX)),
        fromNameNode("cut-server-namenode", stele -> any(servers())),
        fromNameNode("cut-servers-namenode", stele -> servers()),
        fromNameNode("cut-master-namenode", this::activeMaster),
        serverFromMasters("cut-server-master", "cut off from the masters", TortureRelay.Cut.ALL),
        serversFromMaster("cut-servers-master"),
        serverFromMasters(
            "cut-master-answers",
            "lost the answers to and from the masters of",
            TortureRelay.Cut.ANSWERS),
        fromClients("cut-clients", "cut off from clients", TortureRelay.Cut.ALL),
        fromClients("cut-answers", "lost the answers to clients of", TortureRelay.Cut.ANSWERS));
  }

  /**
   * Cuts processes off from ZooKeeper.
   *
   * @param who which processes
   */
  private TortureFault fromZooKeeper(
      String name, IoFunction<Stele, List<TaggedProcess>> who, Supplier<Duration> time) {
    return TortureFault.of(
        name,
        "cut off from ZooKeeper",
        stele -> cut(who.apply(stele), time.get(), scene.ownRelays().zookeeper()));
  }

  private TortureFault fromNameNode(String name, IoFunction<Stele, List<TaggedProcess>> who) {
    return TortureFault.of(
        name,
        "cut off from the NameNode",
        stele -> cut(who.apply(stele), scene.upTo(SOME_MAX), scene.ownRelays().nameNode()));
  }

  private TortureFault serverFromMasters(String name, String text, TortureRelay.Cut cut) {
    return TortureFault.of(name, text, stele -> cutApart(any(servers()), masters(), cut));
  }

  private TortureFault serversFromMaster(String name) {
    return TortureFault.of(
        name,
        "cut off from the tablet servers",
        stele -> cutApart(activeMaster(stele), servers(), TortureRelay.Cut.ALL));
  }

  private TortureFault fromClients(String name, String text, TortureRelay.Cut cut) {
    return TortureFault.of(
        name,
        text,
        stele -> {
          Optional<TortureRelay> relay = scene.any(beforeServers(stele));
          if (relay.isEmpty()) {
            return Optional.empty();
          }
          relay.get().cutEverybody(cut);
          return Optional.of(endAfter(scene.upTo(SOME_MAX), relay.get(), relay.get().service()));
        });
  }

  /** The relays before the tablet servers that run. */
  private List<TortureRelay> beforeServers(Stele stele) throws IOException {
    return scene
        .ownRelays()
        .clients()
        .called(
            stele.admin().clusterStatus().servers().stream()
                .map(server -> server.id().hostAndPort())
                .toList());
  }

  private Optional<String> cut(List<TaggedProcess> processes, Duration time, TortureRelay relay)
      throws IOException, InterruptedException {
    if (processes.isEmpty()) {
      return Optional.empty();
    }
    relay.cutOff(pids(processes));
    return Optional.of(endAfter(time, relay, names(processes)));
  }

  /**
   * Cuts processes and others off from each other's control planes.
   *
   * @param whose those that are named
   */
  private Optional<String> cutApart(
      List<TaggedProcess> whose, List<TaggedProcess> others, TortureRelay.Cut cut)
      throws IOException, InterruptedException {
    if (whose.isEmpty() || others.isEmpty()) {
      return Optional.empty();
    }
    TortureRelay relay = scene.ownRelays().control();
    relay.cutApart(pids(whose), pids(others), cut);
    return Optional.of(endAfter(scene.upTo(SOME_MAX), relay, names(whose)));
  }

  private static Set<Long> pids(List<TaggedProcess> processes) {
    return processes.stream().map(TaggedProcess::pid).collect(Collectors.toSet());
  }

  private static String names(List<TaggedProcess> processes) {
    return processes.stream().map(ProcessFaults::name).collect(Collectors.joining(", "));
  }

  /**
   * Ends a partition after {@code time}.
   *
   * @return who was cut off, and for how long
   */
  private String endAfter(Duration time, TortureRelay relay, String who)
      throws InterruptedException {
    long start = scene.runtime().nanoTime();
    try {
      scene.pause(time);
    } finally {
      relay.reconnect();
    }
    return who + " for " + Duration.ofNanos(scene.runtime().nanoTime() - start).toSeconds() + " s";
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
    int port = Address.parse(address).port();
    List<TaggedProcess> found = new ArrayList<>();
    for (TaggedProcess master : masters()) {
      if (ProcessSockets.of(master.pid()).contains(ProcessSockets.TcpSocket.listening(port))) {
        found.add(master);
      }
    }
    return found;
  }
}
