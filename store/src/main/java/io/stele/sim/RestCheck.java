package io.stele.sim;

import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.sim.check.FileChecker;
import io.stele.sim.check.TabletRecordView;
import io.stele.sim.check.TilingChecker;
import io.stele.sim.check.Violation;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Checks that a cluster without faults becomes healthy: METADATA tiles every table, every tablet is
 * served by the server that its record names, no file is missing, and no file, job or pin is left
 * over.
 *
 * <p>It asks the cluster as any client would, repeatedly, until everything is correct or the time
 * is up. What is still wrong then is reported.
 */
final class RestCheck {
  private static final Duration CHECK_EVERY = Duration.ofSeconds(1);
  private static final Duration LEAKED = Duration.ofDays(1);

  private final SimulatedProcess process;
  private final ClusterView view;
  private final FileSystem files;
  private final Path root;

  RestCheck(SimulatedCluster cluster, Path root) {
    this.process = cluster.clientProcess();
    this.view = new ClusterView(cluster, process);
    this.files = cluster.files().mount(process);
    this.root = root;
  }

  /** What the check runs in. */
  SimulatedProcess process() {
    return process;
  }

  /** What is still wrong after {@code most}; empty as soon as nothing is. */
  List<Violation> await(Duration most) throws InterruptedException {
    long end = process.nanoTime() + most.toNanos();
    while (true) {
      List<Violation> wrong = check();
      if (wrong.isEmpty() || process.nanoTime() - end >= 0) {
        return wrong;
      }
      process.sleep(CHECK_EVERY);
    }
  }

  private List<Violation> check() {
    List<Violation> wrong = new ArrayList<>();
    try {
      Set<TableId> tables = view.tables();
      List<TabletRecord> all = view.records(tables);
      List<TabletRecordView> states = all.stream().map(TabletRecordView::of).toList();
      wrong.addAll(TilingChecker.check(tables, states));
      wrong.addAll(unserved(all));
      wrong.addAll(FileChecker.check(states, sstables(), Set.of(), Duration.ofHours(1)));
      wrong.addAll(logs(all));
      view.jobs().forEach(job -> wrong.add(new Violation("jobs", job + " is not over")));
      all.stream()
          .filter(record -> !record.pins().isEmpty())
          .forEach(record -> wrong.add(new Violation("jobs", record + " is still pinned")));
      all.stream()
          .filter(record -> !record.pending().isEmpty())
          .forEach(record -> wrong.add(new Violation("jobs", record + " awaits a job")));
      view.leftOver().forEach(left -> wrong.add(new Violation("tables", left)));
    } catch (IOException | SteleException e) {
      wrong.add(new Violation("rest", "the state of the cluster cannot be read: " + e));
    }
    return wrong;
  }

  /** Tablets that are not served as their records say. */
  private List<Violation> unserved(List<TabletRecord> all) throws IOException {
    Map<ServerId, Map<String, Long>> served = new TreeMap<>();
    for (Map.Entry<ServerId, ServerInfo> server : view.servers().entrySet()) {
      served.put(server.getKey(), view.served(server.getValue().control()));
    }
    List<Violation> wrong = new ArrayList<>();
    for (TabletRecord record : all) {
      Optional<ServerId> server = record.assignment().server();
      boolean isServed =
          server.isPresent()
              && ClusterView.isServed(record, served.getOrDefault(server.get(), Map.of()));
      if (record.tentative().isEmpty() && !isServed) {
        wrong.add(new Violation("unserved", record + " is not served"));
      }
    }
    return wrong;
  }

  private SortedMap<String, Duration> sstables() throws IOException {
    SortedMap<String, Duration> found = new TreeMap<>();
    for (FileStatus table : list(new Path(root, "tables"))) {
      for (FileStatus tablet : list(table.getPath())) {
        for (FileStatus file : list(tablet.getPath())) {
          Path path = file.getPath();
          found.put(
              "tables/"
                  + table.getPath().getName()
                  + "/"
                  + tablet.getPath().getName()
                  + "/"
                  + path.getName(),
              LEAKED);
        }
      }
    }
    for (FileStatus job : list(new Path(root, "bulk"))) {
      FileStatus[] files = list(job.getPath());
      if (files.length == 0) {
        found.put("bulk/" + job.getPath().getName(), LEAKED);
      }
      for (FileStatus file : files) {
        found.put("bulk/" + job.getPath().getName() + "/" + file.getPath().getName(), LEAKED);
      }
    }
    return found;
  }

  /** Logs of dead servers that no record names any more, and named ones that are gone. */
  private List<Violation> logs(List<TabletRecord> all) throws IOException {
    Set<String> needed = new TreeSet<>();
    all.forEach(record -> record.logs().forEach(log -> needed.add(log.toString())));
    Set<String> live = new TreeSet<>();
    view.servers().keySet().forEach(server -> live.add(server.toString()));
    Set<String> there = new TreeSet<>();
    List<Violation> wrong = new ArrayList<>();
    for (String directory : List.of("logs", "recovery")) {
      for (FileStatus log : list(new Path(root, directory))) {
        String server = log.getPath().getName();
        there.add(server);
        if (!needed.contains(server) && !live.contains(server)) {
          wrong.add(new Violation("files", directory + "/" + server + " is left over"));
        }
      }
    }
    for (String server : needed) {
      if (!there.contains(server)) {
        wrong.add(new Violation("files", "the log of " + server + " is gone, and is needed"));
      }
    }
    return wrong;
  }

  private FileStatus[] list(Path directory) throws IOException {
    try {
      return files.listStatus(directory);
    } catch (FileNotFoundException e) {
      return new FileStatus[0];
    }
  }
}
