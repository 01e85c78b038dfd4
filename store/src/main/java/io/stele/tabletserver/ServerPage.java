package io.stele.tabletserver;

import io.stele.config.ClusterConfig;
import io.stele.config.Version;
import io.stele.log.LogStatistics;
import io.stele.model.TabletKind;
import io.stele.sstable.CacheStatistics;
import io.stele.tablet.CompactionCounters;
import io.stele.tablet.TabletStatistics;
import io.stele.web.Metric;
import io.stele.web.StatusPage;
import io.stele.web.StatusPage.Section;
import io.stele.web.TimeHistogram;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A tablet server's status page: its tablets, and its metrics. Safe for use by any number of
 * threads.
 */
final class ServerPage {
  private static final List<String> TABLET_COLUMNS =
      List.of(
          "tablet", "rows", "epoch", "memtable bytes", "SSTables", "SSTable bytes", "local bytes");

  private static final List<String> LOG_COLUMNS =
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
          "bytes queued");

  private static final List<String> REQUEST_COLUMNS =
      List.of("requests", "answered", "mean us", "50 % within us", "99 % within us");

  private static final List<String> CACHE_COLUMNS =
      List.of("what", "heap hits", "whole-file hits", "off-heap hits", "misses", "hit rate");

  private final ServerContext server;
  private final ClusterConfig cluster;
  private final Supplier<CacheStatistics> cacheStatistics;
  private final TabletLocality locality;
  private final RequestCounts requests;
  private final RequestTimes requestTimes;
  private final LongSupplier requestsWithoutRoom;

  /**
   * The page of {@code server}.
   *
   * @param cluster whose server it is
   * @param service what serves its requests
   * @param requestsWithoutRoom how many requests were refused before they reached {@code service}
   */
  ServerPage(
      ServerContext server,
      ClusterConfig cluster,
      Supplier<CacheStatistics> cacheStatistics,
      TabletLocality locality,
      DataService service,
      LongSupplier requestsWithoutRoom) {
    this.server = server;
    this.cluster = cluster;
    this.cacheStatistics = cacheStatistics;
    this.locality = locality;
    this.requests = service.counts();
    this.requestTimes = service.times();
    this.requestsWithoutRoom = requestsWithoutRoom;
  }

  /** The page of this moment. */
  StatusPage render() {
    List<Metric> metrics = new ArrayList<>();
    List<Section> sections = new ArrayList<>();
    sections.add(
        new Section(
            "Cluster",
            List.of("name", "root directory", "version of Stele"),
            List.of(List.of(cluster.name(), cluster.root().toString(), Version.text()))));
    addTablets(sections, metrics);
    addRequests(metrics);
    addRequestTimes(sections, metrics);
    addCompactions(metrics);
    addLogs(sections, metrics);
    CacheStatistics cache = cacheStatistics.get();
    addCache(metrics, cache);
    sections.add(new Section("Cache", CACHE_COLUMNS, cacheRows(cache)));
    sections.add(cacheMemory(cache));
    return new StatusPage("Tablet server " + server.id(), sections, metrics);
  }

  private void addTablets(List<Section> sections, List<Metric> metrics) {
    List<List<String>> rows = new ArrayList<>();
    List<List<String>> troubles = new ArrayList<>();
    long files = 0;
    long fileBytes = 0;
    long memtableBytes = 0;
    Collection<HostedTablet> served = server.tablets().all();
    for (HostedTablet hosted : served) {
      TabletStatistics statistics = hosted.tablet().statistics();
      rows.add(
          List.of(
              hosted.id().toString(),
              hosted.tablet().extent().toString(),
              Long.toString(hosted.tablet().epoch()),
              Long.toString(statistics.memtableBytes()),
              Integer.toString(statistics.files()),
              Long.toString(statistics.fileBytes()),
              locality.localPercent(List.of(hosted)).map(share -> share + " %").orElse("")));
      for (Trouble trouble : hosted.work().troubles()) {
        troubles.add(List.of(hosted.id().toString(), trouble.toString()));
      }
      files += statistics.files();
      fileBytes += statistics.fileBytes();
      memtableBytes += statistics.memtableBytes();
    }
    sections.add(new Section("Tablets", TABLET_COLUMNS, rows));
    sections.add(new Section("Tablets in trouble", List.of("tablet", "trouble"), troubles));
    metrics.add(gauge("tablets", "Tablets served", rows.size()));
    metrics.add(gauge("troubles", "Work on tablets that fails repeatedly", troubles.size()));
    metrics.add(gauge("sstables", "SSTables of the tablets served", files));
    metrics.add(gauge("sstable_bytes", "Bytes of the SSTables of the tablets served", fileBytes));
    metrics.add(
        gauge(
            "memtable_bytes",
            "Memory that the memtables of the tablets served take",
            memtableBytes));
    Optional<Integer> local = locality.localPercent(served);
    metrics.add(
        gauge(
            "local_percent",
            "Percentage of the SSTables' bytes that is on this host; NaN while unknown",
            local.isPresent() ? local.get() : Double.NaN));
  }

  private void addRequests(List<Metric> metrics) {
    metrics.add(
        counter(
            "operations_total",
            "Row operations answered as applied, retries included",
            requests.operations()));
    metrics.add(counter("rows_read_total", "Rows returned", requests.rowsRead()));
    metrics.add(
        counter(
            "retry_later_total",
            "Requests, and operations of batches, answered 'retry later'",
            requests.retryLater() + requestsWithoutRoom.getAsLong()));
    metrics.add(
        counter(
            "refused_total",
            "Requests, and operations of batches, that were invalid or named something"
                + " that does not exist",
            requests.refused()));
    metrics.add(
        counter(
            "failed_total",
            "Requests, and operations of batches, that failed because of damage or an"
                + " error in the server, or whose outcome is unknown",
            requests.failed()));
  }

  private void addRequestTimes(List<Section> sections, List<Metric> metrics) {
    List<List<String>> rows = new ArrayList<>();
    for (RequestTimes.Kind kind : RequestTimes.Kind.values()) {
      TimeHistogram times = requestTimes.of(kind);
      rows.add(
          List.of(
              kind.text(),
              Long.toString(times.count()),
              Long.toString(micros(times.mean())),
              times.within(50).map(time -> Long.toString(micros(time))).orElse("longer"),
              times.within(99).map(time -> Long.toString(micros(time))).orElse("longer")));
      metrics.add(
          Metric.histogram(
              "stele_tabletserver_" + kind.name().toLowerCase(Locale.ROOT) + "_seconds",
              "Time to answer " + kind.text(),
              times));
    }
    sections.add(new Section("Requests answered", REQUEST_COLUMNS, rows));
  }

  private void addCompactions(List<Metric> metrics) {
    List<CompactionCounters> all =
        server.resources().all().stream().map(KindResources::compactions).toList();
    addCompactions(metrics, "minor", all.stream().map(CompactionCounters::minor).toList());
    addCompactions(metrics, "rewriting", all.stream().map(CompactionCounters::rewriting).toList());
  }

  private static void addCompactions(
      List<Metric> metrics, String sort, List<CompactionCounters.Counter> all) {
    String prefix = "compactions_" + sort;
    metrics.add(
        counter(
            prefix + "_total",
            "Compactions that succeeded",
            all.stream().mapToLong(CompactionCounters.Counter::compactions).sum()));
    metrics.add(
        counter(
            prefix + "_bytes_total",
            "Bytes of the SSTables that these compactions wrote",
            all.stream().mapToLong(CompactionCounters.Counter::bytes).sum()));
  }

  private void addLogs(List<Section> sections, List<Metric> metrics) {
    List<List<String>> logs = new ArrayList<>();
    long operationBytes = 0;
    for (KindResources resources : server.resources().all()) {
      LogStatistics statistics = resources.log().statistics();
      addLog(metrics, resources.kind(), statistics);
      logs.add(row(resources.kind(), statistics));
      operationBytes += resources.operations().bytes();
    }
    sections.add(new Section("Commit logs", LOG_COLUMNS, logs));
    metrics.add(
        gauge(
            "operation_memory_bytes",
            "Memory in which operations of clients are remembered",
            operationBytes));
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
              rate(counts.hitRate())));
    }
    return rows;
  }

  private static String rate(OptionalDouble rate) {
    return rate.isPresent() ? String.format(Locale.ROOT, "%.3f", rate.getAsDouble()) : "-";
  }

  private static void addCache(List<Metric> metrics, CacheStatistics cache) {
    cache
        .counts()
        .forEach(
            (kind, counts) -> {
              String prefix = "cache_" + kind.name().toLowerCase(Locale.ROOT);
              metrics.add(
                  counter(prefix + "_heap_hits_total", "Found, ready for use", counts.heapHits()));
              metrics.add(
                  counter(
                      prefix + "_whole_file_hits_total",
                      "Found in a file held whole",
                      counts.wholeHits()));
              metrics.add(
                  counter(
                      prefix + "_off_heap_hits_total",
                      "Found off the heap, and decoded",
                      counts.offHeapHits()));
              metrics.add(counter(prefix + "_misses_total", "Not found", counts.misses()));
            });
    metrics.add(
        counter("cache_evictions_total", "Dropped from the heap for room", cache.evictions()));
    metrics.add(gauge("cache_bytes_max", "The most that the cache may take", cache.bytesMax()));
    metrics.add(gauge("cache_heap_bytes", "Taken on the heap", cache.heapBytes()));
    metrics.add(gauge("cache_off_heap_bytes", "Taken off the heap", cache.offHeapBytes()));
    metrics.add(gauge("cache_whole_files", "Files held whole", cache.wholeFiles()));
    metrics.add(
        gauge("cache_whole_file_bytes", "Bytes of the files held whole", cache.wholeBytes()));
    metrics.add(
        counter(
            "cache_refused_files_total",
            "Files that should be held whole but had no room or were damaged",
            cache.refusedFiles()));
    metrics.add(
        counter(
            "cache_damaged_blocks_total",
            "Blocks found damaged off the heap and read again",
            cache.damagedBlocks()));
  }

  private static void addLog(List<Metric> metrics, TabletKind kind, LogStatistics log) {
    String prefix = "log_" + kind;
    metrics.add(counter(prefix + "_records_total", "Records acknowledged", log.records()));
    metrics.add(counter(prefix + "_bytes_total", "Bytes of the records acknowledged", log.bytes()));
    metrics.add(counter(prefix + "_flushes_total", "Flushes, one per batch", log.flushes()));
    metrics.add(counter(prefix + "_segments_total", "Segments begun", log.segments()));
    metrics.add(
        counter(
            prefix + "_switch_overs_total",
            "Switches to another segment because a flush was slow",
            log.switchOvers()));
    metrics.add(
        counter(
            prefix + "_failures_total",
            "Writes, flushes and segment creations that failed",
            log.failures()));
    metrics.add(gauge(prefix + "_queued_bytes", "Bytes that wait", log.queuedBytes()));
    metrics.add(
        gauge(
            prefix + "_flush_median_micros",
            "Median time of recent flushes",
            micros(log.flushMedian())));
    metrics.add(
        gauge(
            prefix + "_flush_99th_micros",
            "99th percentile of the time of recent flushes",
            micros(log.flush99th())));
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

  private static Metric gauge(String name, String help, Number value) {
    return Metric.gauge("stele_tabletserver_" + name, help, value);
  }

  private static Metric counter(String name, String help, long value) {
    return Metric.counter("stele_tabletserver_" + name, help, value);
  }
}
