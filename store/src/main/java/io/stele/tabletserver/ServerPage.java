package io.stele.tabletserver;

import io.stele.log.LogStatistics;
import io.stele.model.TabletKind;
import io.stele.sstable.CacheStatistics;
import io.stele.tablet.TabletStatistics;
import io.stele.web.StatusPage;
import io.stele.web.StatusPage.Section;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A tablet server's status page: its tablets, and its metrics. Safe for use by any number of
 * threads.
 */
final class ServerPage {
  private static final List<String> TABLET_COLUMNS =
      List.of(
          "tablet", "rows", "epoch", "memtable bytes", "SSTables", "SSTable bytes", "local bytes");

  private final ServerContext server;
  private final Supplier<CacheStatistics> cacheStatistics;
  private final BlockHosts blockHosts;

  ServerPage(
      ServerContext server, Supplier<CacheStatistics> cacheStatistics, BlockHosts blockHosts) {
    this.server = server;
    this.cacheStatistics = cacheStatistics;
    this.blockHosts = blockHosts;
  }

  /** The page of this moment. */
  StatusPage page() {
    List<List<String>> rows = new ArrayList<>();
    List<List<String>> troubles = new ArrayList<>();
    Map<String, Number> metrics = new HashMap<>();
    for (HostedTablet hosted : server.tablets().all()) {
      TabletStatistics statistics = hosted.tablet().statistics();
      rows.add(
          List.of(
              hosted.id().toString(),
              hosted.tablet().extent().toString(),
              Long.toString(hosted.tablet().epoch()),
              Long.toString(statistics.memtableBytes()),
              Integer.toString(statistics.files()),
              Long.toString(statistics.fileBytes()),
              blockHosts.localPercent(List.of(hosted)).map(share -> share + " %").orElse("")));
      for (Trouble trouble : hosted.troubles()) {
        troubles.add(List.of(hosted.id().toString(), trouble.toString()));
      }
      add(metrics, "sstables", statistics.files());
      add(metrics, "sstable_bytes", statistics.fileBytes());
      add(metrics, "memtable_bytes", statistics.memtableBytes());
      add(metrics, "operations", statistics.operations());
      add(metrics, "rows_read", statistics.rowsRead());
    }
    add(metrics, "tablets", rows.size());
    add(metrics, "troubles", troubles.size());
    List<List<String>> logs = new ArrayList<>();
    for (KindResources resources : server.resources().all()) {
      LogStatistics statistics = resources.log().statistics();
      addLog(metrics, resources.kind(), statistics);
      add(metrics, "operation_memory_bytes", resources.operations().bytes());
      logs.add(row(resources.kind(), statistics));
    }
    CacheStatistics cache = cacheStatistics.get();
    addCache(metrics, cache);
    return new StatusPage(
        "Tablet server " + server.id(),
        List.of(
            new Section("Tablets", TABLET_COLUMNS, rows),
            new Section("Tablets in trouble", List.of("tablet", "trouble"), troubles),
            new Section(
                "Commit logs",
                List.of(
                    "log",
                    "records",
                    "bytes",
                    "flushes",
                    "records a flush",
                    "bytes a flush",
                    "flush median us",
                    "flush 99 % us",
                    "switch-overs",
                    "failures",
                    "segments begun",
                    "bytes queued"),
                logs),
            new Section(
                "Cache",
                List.of(
                    "what", "heap hits", "whole-file hits", "off-heap hits", "misses", "hit rate"),
                cacheRows(cache)),
            cacheMemory(cache)),
        metrics);
  }

  private static Section cacheMemory(CacheStatistics cache) {
    return new Section(
        "Cache memory",
        List.of("heap bytes", "off-heap bytes", "whole files", "whole-file bytes", "bytes at most"),
        List.of(
            List.of(
                Long.toString(cache.heapBytes()),
                Long.toString(cache.offHeapBytes()),
                Long.toString(cache.wholeFiles()),
                Long.toString(cache.wholeBytes()),
                Long.toString(cache.bytesMax()))));
  }

  private static List<List<String>> cacheRows(CacheStatistics cache) {
    List<List<String>> rows = new ArrayList<>();
    for (CacheStatistics.Kind kind : CacheStatistics.Kind.values()) {
      CacheStatistics.Counts counts = cache.of(kind);
      rows.add(
          List.of(
              kind.name().toLowerCase(Locale.ROOT),
              Long.toString(counts.heapHits()),
              Long.toString(counts.wholeHits()),
              Long.toString(counts.offHeapHits()),
              Long.toString(counts.misses()),
              String.format(Locale.ROOT, "%.3f", counts.hitRate())));
    }
    return rows;
  }

  private static void addCache(Map<String, Number> metrics, CacheStatistics cache) {
    cache
        .counts()
        .forEach(
            (kind, counts) -> {
              String prefix = "cache_" + kind.name().toLowerCase(Locale.ROOT);
              add(metrics, prefix + "_heap_hits", counts.heapHits());
              add(metrics, prefix + "_whole_file_hits", counts.wholeHits());
              add(metrics, prefix + "_off_heap_hits", counts.offHeapHits());
              add(metrics, prefix + "_misses", counts.misses());
            });
    add(metrics, "cache_evictions", cache.evictions());
    add(metrics, "cache_bytes_max", cache.bytesMax());
    add(metrics, "cache_heap_bytes", cache.heapBytes());
    add(metrics, "cache_off_heap_bytes", cache.offHeapBytes());
    add(metrics, "cache_whole_files", cache.wholeFiles());
    add(metrics, "cache_whole_file_bytes", cache.wholeBytes());
    add(metrics, "cache_refused_files", cache.refusedFiles());
    add(metrics, "cache_damaged_blocks", cache.damagedBlocks());
  }

  private static void addLog(Map<String, Number> metrics, TabletKind kind, LogStatistics log) {
    String prefix = "log_" + kind;
    add(metrics, prefix + "_records", log.records());
    add(metrics, prefix + "_flushes", log.flushes());
    add(metrics, prefix + "_bytes", log.bytes());
    add(metrics, prefix + "_switch_overs", log.switchOvers());
    add(metrics, prefix + "_failures", log.failures());
    add(metrics, prefix + "_flush_median_micros", micros(log.flushMedian()));
    add(metrics, prefix + "_flush_99th_micros", micros(log.flush99th()));
  }

  private static List<String> row(TabletKind kind, LogStatistics log) {
    return List.of(
        kind.toString(),
        Long.toString(log.records()),
        Long.toString(log.bytes()),
        Long.toString(log.flushes()),
        String.format(Locale.ROOT, "%.1f", log.recordsPerFlush()),
        String.format(Locale.ROOT, "%.0f", log.bytesPerFlush()),
        Long.toString(micros(log.flushMedian())),
        Long.toString(micros(log.flush99th())),
        Long.toString(log.switchOvers()),
        Long.toString(log.failures()),
        Long.toString(log.segments()),
        Long.toString(log.queuedBytes()));
  }

  private static long micros(Duration time) {
    return time.toNanos() / 1000;
  }

  private static void add(Map<String, Number> metrics, String name, long value) {
    metrics.merge("stele_tabletserver_" + name, value, (a, b) -> a.longValue() + b.longValue());
  }
}
