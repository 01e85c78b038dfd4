package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Assignment;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.ByteStrings;
import io.stele.wire.HostShare;
import io.stele.wire.TabletRefs;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The latest reports of the live tablet servers, and where they contradict the records.
 *
 * <p>They are asked every few seconds, in the background. Safe for use by any number of threads;
 * never waits.
 */
final class ServerReports {
  private static final Duration EVERY = Duration.ofSeconds(3);

  private final ProcessRuntime runtime;
  private final TabletServers servers;
  private final HostNumbers hosts;

  @GuardedBy("this")
  private final Map<ServerId, Report> last = new TreeMap<>();

  /** What was measured of tablets, by server: from the reports since it was last taken. */
  @GuardedBy("this")
  private final Map<ServerId, Map<TabletId, Measured>> measured = new TreeMap<>();

  /** Servers whose reports have not been compared with the records yet. */
  @GuardedBy("this")
  private final Set<ServerId> fresh = new TreeSet<>();

  /** Servers whose reports have not been compared with their locks yet. */
  @GuardedBy("this")
  private final Set<ServerId> unheard = new TreeSet<>();

  @GuardedBy("this")
  private final Map<ServerId, Long> askedNanos = new TreeMap<>();

  /** When a server was first asked since its last answer. */
  @GuardedBy("this")
  private final Map<ServerId, Long> unansweredNanos = new TreeMap<>();

  @GuardedBy("this")
  private final Map<TabletId, Suspicion> suspicions = new TreeMap<>();

  /**
   * A report.
   *
   * @param askedNanos the report describes the state at that moment or later
   * @param troubles maintenance of tablets that fails repeatedly
   * @param tablets the rows of the tablets that the server serves, or does not yet or no longer
   *     serve while their records may say so, by table and start
   * @param requests the number of requests to each served tablet
   */
  private record Report(
      long askedNanos,
      ServerStatusProto status,
      Map<String, NavigableMap<Bytes, RowRange>> tablets,
      Map<TabletId, String> troubles,
      Map<TabletId, Requests> requests) {}

  /**
   * The requests of a tablet.
   *
   * @param epoch of the assignment from which they are counted
   */
  private record Requests(long epoch, long count) {
    Optional<Double> perSecond(Optional<Requests> before, double seconds) {
      return before
          .filter(earlier -> earlier.epoch() == epoch && seconds > 0)
          .map(earlier -> Math.max(0, count - earlier.count()) / seconds);
    }
  }

  /**
   * What a server measured of a tablet.
   *
   * @param perSecond its requests
   * @param localHosts where its bytes lie ({@link LocalHosts})
   */
  record Measured(double perSecond, long localHosts) {}

  /**
   * A tablet that its server did not report.
   *
   * @param state the record's exact assignment
   * @param sinceNanos when the record had this assignment
   */
  private record Suspicion(Bytes state, long sinceNanos) {}

  ServerReports(ProcessRuntime runtime, TabletServers servers, HostNumbers hosts) {
    this.runtime = runtime;
    this.servers = servers;
    this.hosts = hosts;
  }

  /** The numbers by which reports name hosts. */
  HostNumbers hosts() {
    return hosts;
  }

  /** Asks the live servers that were not asked for a while; forgets the others. */
  void ask(Map<ServerId, ServerInfo> live) {
    long now = runtime.nanoTime();
    Map<ServerId, ServerInfo> due = new TreeMap<>();
    synchronized (this) {
      last.keySet().retainAll(live.keySet());
      askedNanos.keySet().retainAll(live.keySet());
      unansweredNanos.keySet().retainAll(live.keySet());
      measured.keySet().retainAll(live.keySet());
      fresh.retainAll(live.keySet());
      live.forEach(
          (server, info) -> {
            Long asked = askedNanos.get(server);
            if (asked == null || now - asked >= EVERY.toNanos()) {
              askedNanos.put(server, now);
              unansweredNanos.putIfAbsent(server, now);
              due.put(server, info);
            }
          });
    }
    due.forEach((server, info) -> servers.report(info, report -> reported(server, now, report)));
  }

  private void reported(ServerId server, long asked, ServerReportResponseProto report) {
    Map<String, NavigableMap<Bytes, RowRange>> tablets = new HashMap<>();
    report.getTabletsList().forEach(tablet -> add(tablets, tablet));
    report.getMovingList().forEach(tablet -> add(tablets, tablet));
    Map<TabletId, String> troubles = new TreeMap<>();
    Map<TabletId, Requests> requests = new HashMap<>();
    Map<TabletId, Long> localHosts = new HashMap<>();
    for (HostedTabletProto tablet : report.getTabletsList()) {
      TabletId id = TabletRefs.id(tablet.getTablet());
      if (tablet.getTroublesCount() > 0) {
        troubles.put(id, String.join("; ", tablet.getTroublesList()));
      }
      requests.put(id, new Requests(tablet.getTablet().getEpoch(), tablet.getRequests()));
      localHosts.put(id, localHosts(tablet, report));
    }
    synchronized (this) {
      Optional<Report> before = Optional.ofNullable(last.get(server));
      double seconds = before.map(one -> (asked - one.askedNanos()) / 1e9).orElse(0.0);
      Map<TabletId, Measured> now = new HashMap<>();
      requests.forEach(
          (id, counted) ->
              counted
                  .perSecond(before.map(one -> one.requests().get(id)), seconds)
                  .ifPresent(
                      rate ->
                          now.put(
                              id,
                              new Measured(
                                  rate, localHosts.getOrDefault(id, LocalHosts.UNKNOWN)))));
      measured.put(server, now);
      unansweredNanos.remove(server);
      fresh.add(server);
      unheard.add(server);
      last.put(server, new Report(asked, report.getStatus(), tablets, troubles, requests));
    }
  }

  /** Servers without knowledge of it, or of an earlier version, name no hosts. */
  private long localHosts(HostedTabletProto tablet, ServerReportResponseProto report) {
    int count = Math.min(tablet.getHostsCount(), tablet.getHostPercentsCount());
    List<HostShare> shares = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int host = tablet.getHosts(i);
      int percent = tablet.getHostPercents(i);
      if (host < 0 || host >= report.getHostsCount() || percent < 0 || percent > 100) {
        return LocalHosts.UNKNOWN; // What a report says besides is more important than this.
      }
      shares.add(new HostShare(report.getHosts(host), percent));
    }
    return LocalHosts.of(shares, hosts);
  }

  /** What was measured of tablets, according to the reports since the last call. */
  synchronized List<Map<TabletId, Measured>> takeMeasured() {
    List<Map<TabletId, Measured>> taken = List.copyOf(measured.values());
    measured.clear();
    return taken;
  }

  /**
   * What a server said.
   *
   * @param askedNanos it was alive at that moment
   * @param draining whether it gives its tablets away; empty if it is of a version that does not
   *     say so
   */
  record Heard(long askedNanos, Optional<Boolean> draining) {}

  /** The servers that reported since the last call. */
  synchronized Map<ServerId, Heard> takeHeard() {
    Map<ServerId, Heard> heard = new TreeMap<>();
    for (ServerId server : unheard) {
      Report report = last.get(server);
      if (report != null) {
        Optional<Boolean> draining =
            report.status().hasDraining()
                ? Optional.of(report.status().getDraining())
                : Optional.empty();
        heard.put(server, new Heard(report.askedNanos(), draining));
      }
    }
    unheard.clear();
    return heard;
  }

  private static void add(
      Map<String, NavigableMap<Bytes, RowRange>> tablets, HostedTabletProto tablet) {
    RowRange rows = ByteStrings.range(tablet.getStartRow(), tablet.getEndRow());
    tablets
        .computeIfAbsent(tablet.getTablet().getTableId(), table -> new TreeMap<>())
        .put(rows.start(), rows);
  }

  /**
   * Whether nothing was heard of the server for {@code time}, whether it was asked or not.
   *
   * @throws SteleException RETRY_LATER if it never answered, and was first asked more recently
   */
  synchronized boolean isSilent(ServerId server, Duration time) {
    Report report = last.get(server);
    if (report != null) {
      return runtime.nanoTime() - report.askedNanos() > time.toNanos();
    }
    if (!leavesUnanswered(server, time)) {
      throw SteleException.retryLater(
          "the master does not know yet whether tablet server " + server + " answers: try again");
    }
    return true;
  }

  /** Whether the server has answered within {@code time}; false too if it was not asked yet. */
  synchronized boolean heard(ServerId server, Duration time) {
    Report report = last.get(server);
    return report != null && runtime.nanoTime() - report.askedNanos() <= time.toNanos();
  }

  /** Whether the server was asked, and has not answered for {@code time}. */
  synchronized boolean leavesUnanswered(ServerId server, Duration time) {
    Long since = unansweredNanos.get(server);
    return since != null && runtime.nanoTime() - since > time.toNanos();
  }

  /** The server's last report about itself. */
  synchronized Optional<ServerStatusProto> status(ServerId server) {
    return Optional.ofNullable(last.get(server)).map(Report::status);
  }

  /** Served tablets whose maintenance fails repeatedly, with the reasons. */
  synchronized Map<TabletId, String> troubles() {
    Map<TabletId, String> all = new TreeMap<>();
    last.values().forEach(report -> all.putAll(report.troubles()));
    return all;
  }

  /**
   * The LOADED tablets that their live server does not report, though it was asked after their
   * records said LOADED. Their records must be reread: if they still say the same, no server serves
   * the tablets.
   *
   * <p>Only tablets that may have changed since the last call are checked: those whose records
   * changed, and those of servers that reported.
   */
  synchronized List<TabletRecord> unserved(KnownRecords known) {
    Map<TabletId, TabletRecord> due = new TreeMap<>();
    known.takeChanged().forEach(record -> due.put(record.id(), record));
    fresh.forEach(server -> known.on(server).forEach(record -> due.put(record.id(), record)));
    fresh.clear();
    for (TabletId suspect : suspicions.keySet()) {
      Optional.ofNullable(known.byId().get(suspect)).ifPresent(now -> due.put(suspect, now));
    }
    long now = runtime.nanoTime();
    List<TabletRecord> unserved = new ArrayList<>();
    Set<TabletId> suspected = new HashSet<>();
    for (TabletRecord record : due.values()) {
      if (record.assignment().state() != Assignment.State.LOADED) {
        continue;
      }
      Report report = last.get(record.assignment().server().orElseThrow());
      if (report == null || reports(report, record)) {
        continue;
      }
      suspected.add(record.id());
      Suspicion before = suspicions.get(record.id());
      if (before == null || !before.state().equals(record.state())) {
        suspicions.put(record.id(), new Suspicion(record.state(), now));
      } else if (report.askedNanos() - before.sinceNanos() > 0) {
        unserved.add(record);
      }
    }
    suspicions.keySet().retainAll(suspected);
    return unserved;
  }

  /**
   * Whether the server has these rows, possibly as another tablet, because of a split in progress.
   */
  private static boolean reports(Report report, TabletRecord record) {
    NavigableMap<Bytes, RowRange> tablets = report.tablets().get(record.id().table().value());
    if (tablets == null) {
      return false;
    }
    Map.Entry<Bytes, RowRange> before = tablets.floorEntry(record.extent().start());
    Bytes after = tablets.higherKey(record.extent().start());
    return (before != null && before.getValue().intersection(record.extent()).isPresent())
        || (after != null && record.extent().isBeforeEnd(after));
  }
}
