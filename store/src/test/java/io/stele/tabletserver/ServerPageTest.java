package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Table;
import io.stele.model.Mutation;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.web.StatusPage;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ServerPageTest {
  private static final String CACHE = "stele_tabletserver_cache_";

  @Test
  void whatTheCacheDidAndHoldsIsOnThePage() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 0, 1)) {
      TabletServer server = cluster.startServer();
      cluster.awaitServed(TableId.METADATA);
      cluster.client().admin().createTable(TableSchema.of("t", "f"));
      Table table = cluster.client().table("t");
      table.mutate(Mutation.of("row").put("f", "q", "value"));
      for (HostedTablet hosted : server.tablets().all()) {
        hosted.tablet().minorCompact();
      }
      for (int i = 0; i < 5; i++) {
        assertThat(table.readRow("row")).isPresent();
      }
      StatusPage page = server.page();
      Map<String, Number> metrics = page.metrics();
      assertThat(metrics.get(CACHE + "bytes_max").longValue()).isEqualTo(16 << 20);
      assertThat(metrics.get(CACHE + "heap_bytes").longValue()).isPositive();
      assertThat(metrics.get(CACHE + "off_heap_bytes").longValue()).isPositive();
      assertThat(metrics.get(CACHE + "data_misses").longValue()).isPositive();
      assertThat(metrics.get(CACHE + "row_heap_hits").longValue()).isPositive();
      assertThat(metrics.get("stele_tabletserver_operation_memory_bytes").longValue()).isPositive();
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
}
