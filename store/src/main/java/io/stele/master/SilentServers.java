package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Servers that hold their locks, and do not answer the master: they get no tablets and no work, and
 * tablets that they have not loaded go elsewhere. What they serve they keep, since clients may
 * reach them. From a server that answers, only tablets that it does not load go elsewhere.
 *
 * <p>Safe for use by any number of threads.
 */
final class SilentServers {
  /** A server that said something more recently is not silent: it is asked every few seconds. */
  static final Duration LATELY = Duration.ofSeconds(15);

  /** A server that leaves a request unanswered for this time may have fallen silent. */
  private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(2);

  /** How long a server may be silent before others do work that any of them can do. */
  private static final Duration WORKS_UNTIL = Duration.ofSeconds(5);

  /** How long a server may be silent before what it has not loaded goes elsewhere. */
  private static final Duration LOADS_AFTER = Duration.ofSeconds(30);

  private static final String UNANSWERED =
      "holds its lock, but has not answered the master for " + LOADS_AFTER.toSeconds() + " s";

  /** At most this part of the servers may be too slow in loading. */
  private static final int SLOW_AT_ONCE_PART = 3;

  private final ServerReports reports;
  private final LoadTimes loads;

  SilentServers(ServerReports reports, LoadTimes loads) {
    this.reports = reports;
    this.loads = loads;
  }

  /** The {@code live} servers that answer, so that work can be shared among them. */
  Map<ServerId, ServerInfo> answering(Map<ServerId, ServerInfo> live) {
    Map<ServerId, ServerInfo> answering = new TreeMap<>(live);
    answering.keySet().removeIf(server -> reports.leavesUnanswered(server, WORKS_UNTIL));
    return answering;
  }

  /**
   * Whether one of the {@code live} servers may have just fallen silent. Until that is known,
   * nothing should be moved that is served: it may be moved to that one.
   */
  boolean isInDoubt(Map<ServerId, ServerInfo> live) {
    return live.keySet().stream().anyMatch(this::isInDoubt);
  }

  private boolean isInDoubt(ServerId server) {
    return reports.leavesUnanswered(server, ANSWERS_WITHIN)
        && !reports.leavesUnanswered(server, LATELY);
  }

  /**
   * A live server, as the planner sees it.
   *
   * @param others what servers have that is not in the snapshot
   */
  ClusterSnapshot.Server snapshot(
      ServerId server, ServerInfo info, Map<ServerId, ServerLoads.Sum> others) {
    return ClusterSnapshot.Server.of(server, takes(server, info), isInDoubt(server), others);
  }

  private ClusterSnapshot.Takes takes(ServerId server, ServerInfo info) {
    if (reports.leavesUnanswered(server, LATELY)) {
      return ClusterSnapshot.Takes.LAST_RESORT;
    }
    return info.draining() ? ClusterSnapshot.Takes.METADATA_IF_NO_OTHER : ClusterSnapshot.Takes.ALL;
  }

  /** The {@code live} servers that take all tablets, and have said something lately. */
  List<ServerId> takers(Map<ServerId, ServerInfo> live) {
    return live.entrySet().stream()
        .filter(server -> !server.getValue().draining())
        .map(Map.Entry::getKey)
        .filter(server -> reports.heard(server, LATELY))
        .toList();
  }

  /**
   * Tablets to be taken from silent servers, and from those that take too long to load them. None
   * where no other server would get them, and none for its time if many servers take too long: then
   * something ails them all.
   *
   * <p>Such a server may be loading the tablet: whose change of the record comes first has it.
   *
   * @param open records of tablets that may wait to be loaded
   * @param canLoad whether such a tablet is to be loaded, and its record could be written now
   */
  List<LoadFailureReport> givenUp(
      Collection<TabletRecord> open,
      Map<ServerId, ServerInfo> live,
      Predicate<TabletRecord> canLoad) {
    loads.update(open, live.keySet(), canLoad);
    List<LoadFailureReport> failures = new ArrayList<>();
    Map<ServerId, List<LoadFailureReport>> slow = new TreeMap<>();
    for (TabletRecord record : open) {
      Optional<ServerId> loading = record.assignment().server().filter(live::containsKey);
      if (record.assignment().state() != Assignment.State.ASSIGNED || loading.isEmpty()) {
        continue;
      }
      ServerId server = loading.get();
      Optional<Duration> overdue = loads.overdue(record);
      if (reports.leavesUnanswered(server, LOADS_AFTER)) {
        if (anotherTakes(record, server, live)) {
          failures.add(failure(record, server, UNANSWERED));
        }
      } else if (overdue.isPresent() && anotherTakes(record, server, live)) {
        String why =
            "answers the master, but has not loaded it in " + overdue.get().toSeconds() + " s";
        slow.computeIfAbsent(server, any -> new ArrayList<>()).add(failure(record, server, why));
      }
    }
    if (slow.size() <= Math.max(1, live.size() / SLOW_AT_ONCE_PART)) {
      slow.values().forEach(failures::addAll);
      slow.values().forEach(some -> some.forEach(one -> loads.end(one.tablet())));
    }
    return failures;
  }

  /** Whether a server that is not silent would get the tablet if {@code server} did not have it. */
  private boolean anotherTakes(
      TabletRecord record, ServerId server, Map<ServerId, ServerInfo> live) {
    return live.entrySet().stream()
        .filter(other -> !other.getKey().equals(server))
        .map(other -> takes(other.getKey(), other.getValue()))
        .anyMatch(
            takes ->
                takes == ClusterSnapshot.Takes.ALL
                    || (record.id().table().isSystem()
                        && takes == ClusterSnapshot.Takes.METADATA_IF_NO_OTHER));
  }

  private static LoadFailureReport failure(TabletRecord record, ServerId server, String why) {
    return new LoadFailureReport(
        server,
        record.id(),
        record.assignment().epoch(),
        "tablet server " + server + " " + why,
        false);
  }
}
