package io.stele.tabletserver;

import io.stele.log.LogKind;
import io.stele.log.LogStatistics;
import io.stele.tablet.TabletStatistics;
import io.stele.web.StatusPage;
import io.stele.web.StatusPage.Section;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a tablet server shows of itself: its tablets, and numbers for a collector. Safe for use by
 * any number of threads.
 */
final class ServerPage {
  private final TabletServer server;

  ServerPage(TabletServer server) {
    this.server = server;
  }

  /** The page of this moment. */
  StatusPage page() {
    List<List<String>> rows = new ArrayList<>();
    Map<String, Number> metrics = new HashMap<>();
    for (HostedTablet hosted :
        server.tablets().all().stream().sorted(Comparator.comparing(HostedTablet::id)).toList()) {
      TabletStatistics statistics = hosted.tablet().statistics();
      rows.add(
          List.of(
              hosted.id().toString(),
              hosted.tablet().extent().toString(),
              Long.toString(hosted.tablet().epoch()),
              Long.toString(statistics.memtableBytes()),
              Integer.toString(statistics.files()),
              Long.toString(statistics.fileBytes())));
      add(metrics, "sstables", statistics.files());
      add(metrics, "sstable_bytes", statistics.fileBytes());
      add(metrics, "memtable_bytes", statistics.memtableBytes());
      add(metrics, "operations", statistics.operations());
      add(metrics, "rows_read", statistics.rowsRead());
    }
    add(metrics, "tablets", rows.size());
    server.logs().forEach((kind, log) -> addLog(metrics, kind, log.statistics()));
    return new StatusPage(
        "Tablet server " + server.id(),
        List.of(
            new Section(
                "Tablets",
                List.of("tablet", "rows", "epoch", "memtable bytes", "SSTables", "SSTable bytes"),
                rows)),
        metrics);
  }

  private static void addLog(Map<String, Number> metrics, LogKind kind, LogStatistics log) {
    String prefix = "log_" + kind.name().toLowerCase(Locale.ROOT);
    add(metrics, prefix + "_records", log.records());
    add(metrics, prefix + "_flushes", log.flushes());
    add(metrics, prefix + "_bytes", log.bytes());
  }

  private static void add(Map<String, Number> metrics, String name, long value) {
    metrics.merge("stele_tabletserver_" + name, value, (a, b) -> a.longValue() + b.longValue());
  }
}
