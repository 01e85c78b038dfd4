package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Admin;
import io.stele.client.Rows;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.web.Metric;
import io.stele.web.StatusPage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ServerPageTest {
  private static final String CACHE = "stele_tabletserver_cache_";
  private static final String COMPACTIONS = "stele_tabletserver_compactions_";
  private static final int ROWS = 10;

  @Test
  void whatTheCacheDidAndHoldsIsOnThePage() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 0, 1)) {
      TabletServer server = cluster.startServer();
      Table table = newTable(cluster);
      table.mutate(Mutation.of("row").put("f", "q", "value"));
      for (HostedTablet hosted : server.tablets().all()) {
        hosted.tablet().minorCompact();
      }
      for (int i = 0; i < 5; i++) {
        assertThat(table.readRow("row")).isPresent();
      }
      StatusPage page = server.page();
      Map<String, Number> metrics = numbers(page);
      assertThat(metrics.get(CACHE + "bytes_max").longValue()).isEqualTo(16 << 20);
      assertThat(metrics.get(CACHE + "heap_bytes").longValue()).isPositive();
      assertThat(metrics.get(CACHE + "off_heap_bytes").longValue()).isPositive();
      assertThat(metrics.get(CACHE + "data_misses_total").longValue()).isPositive();
      assertThat(metrics.get(CACHE + "row_heap_hits_total").longValue()).isPositive();
      assertThat(metrics.get("stele_tabletserver_operation_memory_bytes").longValue()).isPositive();
      assertThat(metrics.get(COMPACTIONS + "minor_total").longValue()).isPositive();
      assertThat(metrics.get(COMPACTIONS + "minor_bytes_total").longValue()).isGreaterThan(100);
      assertThat(metrics.get(COMPACTIONS + "rewriting_total").longValue()).isZero();
      server.tablets().all().forEach(ServerPageTest::majorCompact);
      Map<String, Number> later = numbers(server.page());
      assertThat(later.get(COMPACTIONS + "rewriting_total").longValue()).isPositive();
      assertThat(later.get(COMPACTIONS + "rewriting_bytes_total").longValue()).isGreaterThan(100);
      StatusPage.Section cache =
          page.sections().stream()
              .filter(section -> section.heading().equals("Cache"))
              .findFirst()
              .orElseThrow();
      assertThat(cache.rows()).extracting(List::size).containsOnly(cache.columns().size());
      assertThat(cache.rows())
          .extracting(row -> row.get(0))
          .containsExactly("data", "index", "bloom", "row");
    }
  }

  @Test
  void thePageSaysOfWhichClusterAndVersionTheServerIs() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    conf.set("stele.cluster.name", "blue");
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 0, 1)) {
      StatusPage.Section first = cluster.startServer().page().sections().get(0);
      assertThat(first.columns()).containsExactly("name", "root directory", "version of Stele");
      assertThat(first.rows()).hasSize(1);
      assertThat(first.rows().get(0)).startsWith("blue").doesNotContain("");
    }
  }

  @Test
  void aCacheThatWasNeverAskedHasNoHitRate() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 0, 1)) {
      StatusPage.Section cache =
          cluster.startServer().page().sections().stream()
              .filter(section -> section.heading().equals("Cache"))
              .findFirst()
              .orElseThrow();
      assertThat(cache.rows())
          .filteredOn(row -> row.subList(1, 5).equals(List.of("0", "0", "0", "0")))
          .isNotEmpty()
          .allSatisfy(row -> assertThat(row).endsWith("-"));
    }
  }

  @Test
  void noCounterFallsWhenTabletsAreSplitOrUnloaded() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 0, 1)) {
      TabletServer server = cluster.startServer();
      Table table = newTable(cluster);
      Admin admin = cluster.client().admin();
      for (int i = 0; i < ROWS; i++) {
        table.mutate(Mutation.of("row" + i).put("f", "q", "value"));
        assertThat(table.readRow("row" + i)).isPresent();
      }
      assertThatThrownBy(() -> table.mutate(Mutation.of("row").put("none", "q", "value")))
          .isInstanceOf(SteleException.class);
      Map<String, Number> before = numbers(server.page());
      assertThat(before.get("stele_tabletserver_rows_read_total").longValue())
          .isGreaterThanOrEqualTo(ROWS);
      assertThat(before.get("stele_tabletserver_operations_total").longValue())
          .isGreaterThanOrEqualTo(ROWS);
      admin.splitTablet("t", Bytes.of("row5"));
      Map<String, Number> split = counters(server.page());
      assertThat(split).allSatisfy((name, value) -> assertNotLess(name, value, before));
      admin.dropTable("t");
      assertThat(counters(server.page()))
          .allSatisfy((name, value) -> assertNotLess(name, value, split));
    }
  }

  @Test
  void requestsThatWereAnsweredAreCountedByTheirTime() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 0, 1)) {
      TabletServer server = cluster.startServer();
      Table table = newTable(cluster);
      table.mutate(Mutation.of("row").put("f", "q", "value"));
      Map<String, Number> before = numbers(server.page());
      for (int i = 0; i < ROWS; i++) {
        table.mutate(Mutation.of("row" + i).put("f", "q", "value"));
        assertThat(table.readRow("row" + i)).isPresent();
        assertThat(table.readModifyWrite(ReadModifyWrite.increment("row", "f", "n", 1)))
            .isNotNull();
      }
      assertThatThrownBy(() -> table.mutate(Mutation.of("row").put("none", "q", "value")))
          .isInstanceOf(SteleException.class);
      try (Rows rows = table.readRows(RowQuery.ALL)) {
        assertThat(rows.stream()).hasSize(ROWS + 1);
      }
      Map<String, Number> after = numbers(server.page());
      assertThat(more(before, after, "mutate")).isEqualTo(ROWS);
      assertThat(more(before, after, "read")).isEqualTo(ROWS);
      assertThat(more(before, after, "read_modify_write")).isEqualTo(ROWS);
      assertThat(more(before, after, "scan")).isPositive();
      assertThat(
              server.page().sections().stream()
                  .filter(section -> section.heading().equals("Requests answered"))
                  .flatMap(section -> section.rows().stream()))
          .hasSize(RequestTimes.Kind.values().length)
          .allSatisfy(row -> assertThat(row).hasSize(5));
    }
  }

  private static Table newTable(MiniStele cluster) throws IOException {
    cluster.awaitServed(TableId.METADATA);
    cluster.client().admin().createTable(TableSchema.of("t", "f"));
    return cluster.client().table("t");
  }

  private static long more(Map<String, Number> before, Map<String, Number> after, String kind) {
    String name = "stele_tabletserver_" + kind + "_seconds";
    return after.get(name).longValue() - before.get(name).longValue();
  }

  private static void majorCompact(HostedTablet hosted) {
    try {
      assertThat(hosted.tablet().majorCompact()).isTrue();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void assertNotLess(String name, Number value, Map<String, Number> before) {
    assertThat(value.longValue()).as(name).isGreaterThanOrEqualTo(before.get(name).longValue());
  }

  private static Map<String, Number> counters(StatusPage page) {
    return page.metrics().stream()
        .filter(metric -> metric.type() != Metric.Type.GAUGE)
        .collect(Collectors.toMap(Metric::name, ServerPageTest::number));
  }

  private static Map<String, Number> numbers(StatusPage page) {
    return page.metrics().stream().collect(Collectors.toMap(Metric::name, ServerPageTest::number));
  }

  /** A histogram's is its count, which comes last. */
  private static Number number(Metric metric) {
    List<Metric.Sample> samples = metric.samples();
    return samples.get(samples.size() - 1).value();
  }
}
