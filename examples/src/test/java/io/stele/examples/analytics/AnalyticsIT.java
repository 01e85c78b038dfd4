package io.stele.examples.analytics;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.examples.Printed;
import io.stele.mapreduce.HdfsCluster;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sessions are generated and summed up, over HDFS and ZooKeeper in this JVM. */
class AnalyticsIT {
  private static final int SESSIONS = 2000;

  @TempDir private Path scratch;

  /** A click, as the table of clicks has it. */
  private record Click(String day, String session, String visitor, String page, long time) {}

  @Test
  void summariesAreWhatTheClicksSayWheneverTheyAreMade() throws Exception {
    try (HdfsCluster hdfs = new HdfsCluster(scratch.toFile())) {
      Stele stele = hdfs.stele().client();
      Configuration conf = new Configuration(hdfs.conf());

      String printed = Printed.by(new Analytics(), conf, "run", "" + SESSIONS, "7");
      List<Row> sessions = rows(stele, "clicks");
      assertThat(sessions).hasSize(SESSIONS);
      assertThat(printed).contains("2,000 sessions written", "com.example.s00", "/thanks");
      requireOrder(sessions);
      requireSummaries(stele, sessions);

      // The same seed makes the same sessions, however many mappers there are.
      stele.admin().createTable(Clicks.schema("again"));
      conf.setInt(MRJobConfig.NUM_MAPS, 5);
      assertThat(Clicks.generate(conf, "again", SESSIONS, 7).waitForCompletion(false)).isTrue();
      assertThat(rows(stele, "again")).isEqualTo(sessions);

      // A late session counts, and what is in no session goes.
      stele
          .table("clicks")
          .mutate(
              Mutation.of("com.example.s01 2026-01-05T08:00:00.000Z late")
                  .put("session", "visitor", "late")
                  .put("click", Bytes.of("/late"), 1_767_600_000_000_000L, Bytes.EMPTY)
                  .put("click", Bytes.of("/thanks"), 1_767_600_060_000_000L, Bytes.EMPTY));
      stele.admin().deleteRows("clicks", RowRange.prefix("com.example.s02 "));
      Printed.by(new Analytics(), conf, "summarize");
      requireSummaries(stele, rows(stele, "clicks"));
      assertThat(Printed.by(new Analytics(), conf, "show")).doesNotContain("com.example.s02");
      assertThat(Printed.by(new Analytics(), conf, "show", "com.example.s01"))
          .containsPattern("/late +1 +1 +100 %");
    }
  }

  private static List<Row> rows(Stele stele, String table) throws IOException {
    try (Rows rows = stele.table(table).readRows(RowQuery.ALL)) {
      return rows.stream().toList();
    }
  }

  /** Sessions of a site follow one another in the order of time. */
  private static void requireOrder(List<Row> sessions) {
    Map<String, Long> lastOf = new TreeMap<>();
    String site = "";
    for (Row session : sessions) {
      String own = session.key().toUtf8().split(" ")[0];
      assertThat(own.equals(site) || !lastOf.containsKey(own)).as(own).isTrue();
      site = own;
      long first =
          session.family("click").stream().mapToLong(Cell::timestampMicros).min().orElseThrow();
      assertThat(first).isGreaterThanOrEqualTo(lastOf.getOrDefault(own, 0L));
      lastOf.put(own, first);
    }
  }

  /** Compares the table of summaries with what a plain computation finds in the sessions. */
  private static void requireSummaries(Stele stele, List<Row> sessions) throws IOException {
    List<Click> clicks = new ArrayList<>();
    for (Row session : sessions) {
      String key = session.key().toUtf8();
      String visitor = session.value("session", "visitor").orElseThrow().toUtf8();
      for (Cell cell : session.family("click")) {
        String page = cell.qualifier().toUtf8();
        clicks.add(new Click(key.split("T")[0], key, visitor, page, cell.timestampMicros()));
      }
    }
    Map<String, List<Click>> days = clicks.stream().collect(Collectors.groupingBy(Click::day));
    List<Row> summaries = rows(stele, "summaries");
    assertThat(summaries).extracting(row -> row.key().toUtf8()).hasSameElementsAs(days.keySet());
    for (Row row : summaries) {
      requireSummary(row, days.get(row.key().toUtf8()));
    }
  }

  private static void requireSummary(Row row, List<Click> clicks) {
    Map<String, List<Click>> bySession =
        clicks.stream().collect(Collectors.groupingBy(Click::session));
    Map<String, Long> expected = new TreeMap<>();
    expected.put("day:sessions", (long) bySession.size());
    expected.put("day:clicks", (long) clicks.size());
    expected.put("day:visitors", clicks.stream().map(Click::visitor).distinct().count());
    List<Long> millis =
        bySession.values().stream()
            .map(all -> all.stream().mapToLong(Click::time).summaryStatistics())
            .map(times -> (times.getMax() - times.getMin()) / 1000)
            .sorted()
            .toList();
    expected.put("day:medianMillis", millis.get((millis.size() - 1) / 2));
    for (String page : clicks.stream().map(Click::page).distinct().toList()) {
      Set<String> viewers = new HashSet<>();
      Set<String> buyers = new HashSet<>();
      long views = 0;
      for (Click view : clicks) {
        if (view.page().equals(page)) {
          views++;
          viewers.add(view.visitor());
          for (Click later : clicks) {
            if (later.visitor().equals(view.visitor())
                && later.page().equals("/thanks")
                && later.time() > view.time()) {
              buyers.add(view.visitor());
            }
          }
        }
      }
      expected.put("views:" + page, views);
      expected.put("viewers:" + page, (long) viewers.size());
      expected.put("buyers:" + page, (long) buyers.size());
    }
    Map<String, Long> found = new TreeMap<>();
    for (Cell cell : row.cells()) {
      found.put(cell.family() + ":" + cell.qualifier().toUtf8(), cell.value().toLong());
    }
    assertThat(found).as("%s", row.key()).isEqualTo(expected);
  }
}
