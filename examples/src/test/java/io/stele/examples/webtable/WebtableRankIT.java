package io.stele.examples.webtable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.mapreduce.HdfsCluster;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several rounds over a small Webtable, each of which replaces the table that it reads. */
class WebtableRankIT {
  private static final String RANKS = "ranks";
  private static final int ROUNDS = 3;

  /** Who refers to whom. */
  private static final Map<String, Set<String>> LINKS =
      Map.of(
          "com.a", Set.of("com.b", "com.c"),
          "com.b", Set.of("com.c"),
          "com.c", Set.of("com.a"),
          "org.d", Set.of("com.c", "net.e"));

  @TempDir private Path scratch;

  @Test
  void eachRoundReplacesTheRanksOfTheOneBefore() throws Exception {
    try (HdfsCluster hdfs = new HdfsCluster(scratch.toFile())) {
      Stele stele = hdfs.stele().client();
      Configuration conf = new Configuration(hdfs.conf());
      stele.admin().createTable(Webtable.schema(Webtable.TABLE, 1 << 20));
      stele.admin().createTable(WebtableRank.schema(RANKS));
      for (Map.Entry<String, Set<String>> page : LINKS.entrySet()) {
        for (String target : page.getValue()) {
          stele
              .table(Webtable.TABLE)
              .mutate(Mutation.of(target).put(Webtable.ANCHOR, page.getKey(), "text"));
        }
      }
      stele.table(RANKS).mutate(Mutation.of("gone").put(WebtableRank.RANK, "", "9"));

      run(WebtableRank.links(conf, Webtable.TABLE, RANKS));
      Map<String, Double> expected = new TreeMap<>();
      for (String page : Set.of("com.a", "com.b", "com.c", "net.e", "org.d")) {
        expected.put(page, 1.0);
      }
      requireRanks(stele, expected);
      for (int i = 0; i < ROUNDS; i++) {
        run(WebtableRank.round(conf, RANKS));
        expected = next(expected);
        requireRanks(stele, expected);
      }
    }
  }

  private static void run(Job job) throws Exception {
    assertThat(job.waitForCompletion(true)).isTrue();
  }

  /** A round, as one would do it by hand. */
  private static Map<String, Double> next(Map<String, Double> ranks) {
    Map<String, Double> next = new TreeMap<>();
    ranks.keySet().forEach(page -> next.put(page, 0.15));
    LINKS.forEach(
        (page, targets) ->
            targets.forEach(
                target ->
                    next.merge(target, 0.85 * ranks.get(page) / targets.size(), Double::sum)));
    return next;
  }

  private static void requireRanks(Stele stele, Map<String, Double> expected) throws IOException {
    Set<String> found = new TreeSet<>();
    try (Rows rows = stele.table(RANKS).readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        String page = row.key().toUtf8();
        found.add(page);
        double rank = Double.parseDouble(row.value(WebtableRank.RANK, "").orElseThrow().toUtf8());
        assertThat(rank).as(page).isCloseTo(expected.getOrDefault(page, -1.0), within(1e-9));
        assertThat(row.family(WebtableRank.LINK))
            .as(page)
            .extracting(cell -> cell.qualifier())
            .containsExactlyElementsOf(
                new TreeSet<>(LINKS.getOrDefault(page, Set.of())).stream().map(Bytes::of).toList());
      }
    }
    assertThat(found).isEqualTo(expected.keySet());
  }
}
