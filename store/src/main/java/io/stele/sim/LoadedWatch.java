package io.stele.sim;

import io.stele.config.Keys;
import io.stele.metadata.Assignment;
import io.stele.metadata.Attempts;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.sim.check.MissingFiles;
import io.stele.sim.check.TabletRecordView;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * Checks throughout a history that each tablet whose record says LOADED is served by the server
 * that the record names, or will be within five seconds.
 *
 * <p>A server is checked while it is alive and no fault affects it, whatever happens to others, and
 * again when the consequences of its last fault are over. Such a consequence is a lost message. Its
 * sender waits for an answer for as long as one attempt at METADATA takes, which is a lease at most
 * ({@link TabletAccess}), pauses for at most {@link Attempts#PAUSE_MAX}, and asks again, with
 * success. So a server is checked again a lease and that pause after its last fault. After a failed
 * read the five seconds start again. They also start again while a server of METADATA is not
 * checked: it may answer reads but accept no writes, so that other servers cannot record which
 * tablets they no longer serve.
 *
 * <p>The same records also say which SSTables must be there ({@link MissingFiles}), whatever the
 * faults.
 *
 * <p>For the holder of the simulation's baton alone.
 */
final class LoadedWatch {
  private static final Duration CHECK_EVERY = Duration.ofSeconds(1);
  private static final Duration UNSERVED_MAX = Duration.ofSeconds(5);

  /** No fault is shorter. */
  private static final Duration NOTE_FAULTS_EVERY = Duration.ofMillis(50);

  /** A tablet as a record says it is loaded. */
  private record Loaded(TabletId tablet, ServerId server, long epoch)
      implements Comparable<Loaded> {
    static Loaded of(TabletRecord record) {
      return new Loaded(
          record.id(), record.assignment().server().orElseThrow(), record.assignment().epoch());
    }

    @Override
    public int compareTo(Loaded other) {
      int byTablet = tablet.compareTo(other.tablet);
      int byServer = byTablet != 0 ? byTablet : server.compareTo(other.server);
      return byServer != 0 ? byServer : Long.compare(epoch, other.epoch);
    }
  }

  private final SimulatedCluster cluster;
  private final SimulatedProcess process;
  private final ClusterView view;
  private final Duration afterFault;
  private final Map<Loaded, Long> unservedSince = new TreeMap<>();
  private final Map<String, Long> touched = new TreeMap<>(); // When last, by process.
  private final Set<Loaded> told = new TreeSet<>();
  private final Set<String> quarantined = new TreeSet<>();
  private final MissingFiles missing = new MissingFiles();
  private final List<Violation> violations = new ArrayList<>();

  LoadedWatch(SimulatedCluster cluster) {
    this.cluster = cluster;
    this.process = cluster.clientProcess();
    this.view = new ClusterView(cluster, process);
    this.afterFault = Keys.LEASE.in(cluster.conf()).plus(Attempts.PAUSE_MAX);
  }

  /** Watches until the history ends. */
  void start() {
    noteFaults();
    process.start("watches", this::watch);
  }

  /** How long after its last fault a server counts again. */
  Duration afterFault() {
    return afterFault;
  }

  /** What was wrong so far. */
  List<Violation> violations() {
    return List.copyOf(violations);
  }

  /** The tablets that were seen in quarantine, and why. */
  List<String> quarantined() {
    return List.copyOf(quarantined);
  }

  private void watch() {
    try {
      while (true) {
        process.sleep(CHECK_EVERY);
        check();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the watch", e);
    }
  }

  /** Notes which servers a fault touches now, and so every so often. */
  private void noteFaults() {
    for (SimulatedCluster.Slot slot : cluster.slots(SimulatedCluster.Kind.SERVER)) {
      if (!cluster.isUntouched(slot.process())) {
        touched.put(slot.process().name(), process.nanoTime());
      }
    }
    cluster.simulation().schedule(process, NOTE_FAULTS_EVERY, "", this::noteFaults);
  }

  private void check() {
    Set<Loaded> unserved = new TreeSet<>();
    try {
      Map<ServerId, ServerInfo> servers = view.servers();
      List<TabletRecord> records = view.records(view.tablesToServe());
      records.stream()
          .filter(TabletRecord::isQuarantined)
          .forEach(record -> quarantined.add(record.id() + ": " + record.trouble().orElseThrow()));
      violations.addAll(
          missing.look(records.stream().map(TabletRecordView::of).toList(), sstables()));
      Set<ServerId> ofMetadata =
          records.stream()
              .filter(record -> record.id().table().isSystem())
              .flatMap(record -> record.assignment().server().stream())
              .collect(Collectors.toSet());
      if (!ofMetadata.stream().allMatch(this::isUntouched)) {
        unservedSince.clear();
        return;
      }
      for (Map.Entry<ServerId, ServerInfo> server : servers.entrySet()) {
        if (isUntouched(server.getKey())) {
          Map<String, Long> served = view.served(server.getValue().control());
          records.stream()
              .filter(record -> record.assignment().isTo(server.getKey()))
              .filter(record -> record.assignment().state() == Assignment.State.LOADED)
              .filter(record -> !ClusterView.isServed(record, served))
              .filter(record -> isUntouched(server.getKey()))
              .forEach(record -> unserved.add(Loaded.of(record)));
        }
      }
    } catch (IOException | SteleException e) {
      unserved.clear();
    }
    unservedSince.keySet().retainAll(unserved);
    for (Loaded loaded : unserved) {
      long since = unservedSince.computeIfAbsent(loaded, unseen -> process.nanoTime());
      Duration gone = Duration.ofNanos(process.nanoTime() - since);
      if (gone.compareTo(UNSERVED_MAX) > 0 && told.add(loaded)) {
        violations.add(
            new Violation(
                "loaded", loaded + " was not served for " + gone + " by a server without faults"));
      }
    }
  }

  /** The SSTables on the disk now, as records name them. */
  private Set<String> sstables() {
    String root = new Path(Keys.ROOT_DIR.in(cluster.conf())).toUri().getPath() + "/";
    return cluster.files().disk().fileNames().stream()
        .filter(file -> file.startsWith(root))
        .map(file -> file.substring(root.length()))
        .collect(Collectors.toSet());
  }

  private boolean isUntouched(ServerId server) {
    Optional<SimulatedProcess> found =
        cluster.slots(SimulatedCluster.Kind.SERVER).stream()
            .filter(slot -> slot.server().filter(one -> one.id().equals(server)).isPresent())
            .map(SimulatedCluster.Slot::process)
            .findFirst();
    return found.isPresent() && isUntouched(found.get());
  }

  private boolean isUntouched(SimulatedProcess server) {
    Long last = touched.get(server.name());
    return cluster.isUntouched(server)
        && (last == null || process.nanoTime() - last > afterFault.toNanos());
  }
}
