package io.stele.examples.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.examples.Printed;
import io.stele.mapreduce.HdfsCluster;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.model.Timestamps;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Actions are recorded and made into profiles, over HDFS and ZooKeeper in this JVM. */
class SearchIT {
  private static final int USERS = 40;
  private static final long DAY = 86_400_000_000L;

  /** What each word may mean, as one would write it down. */
  private static final Map<String, List<String>> MEANINGS =
      Map.ofEntries(
          Map.entry("jaguar", List.of("animals", "cars")),
          Map.entry("python", List.of("animals", "computing")),
          Map.entry("beetle", List.of("animals", "cars")),
          Map.entry("zoo", List.of("animals")),
          Map.entry("mercury", List.of("cars", "space")),
          Map.entry("engine", List.of("cars")),
          Map.entry("java", List.of("computing", "travel")),
          Map.entry("tablet", List.of("computing")),
          Map.entry("compiler", List.of("computing")),
          Map.entry("saturn", List.of("space")),
          Map.entry("rocket", List.of("space")),
          Map.entry("orbit", List.of("space", "travel")),
          Map.entry("island", List.of("travel")),
          Map.entry("hotel", List.of("travel")));

  @TempDir private Path scratch;

  @Test
  void profilesAreWhatUsersDidLately() throws Exception {
    try (HdfsCluster hdfs = new HdfsCluster(scratch.toFile())) {
      Stele stele = hdfs.stele().client();
      Configuration conf = new Configuration(hdfs.conf());
      Instant until = Instant.now().truncatedTo(ChronoUnit.SECONDS);
      GcPolicy all = GcPolicy.keepAll();
      stele.admin().createTable(Users.schema("search-users"));
      stele
          .admin()
          .createTable(
              TableSchema.of(
                  "all", List.of(new ColumnFamily("query", all), new ColumnFamily("click", all))));
      for (String table : List.of("search-users", "all")) {
        assertThat(Users.generate(conf, table, USERS, 3, until).waitForCompletion(false)).isTrue();
      }
      long now = Timestamps.micros(until);
      requireQuotas(rows(stele, "search-users"), rows(stele, "all"), now);
      // Only what was done lately counts: who did nothing then keeps the profile that there was.
      put(stele, Mutation.of("lapsed").put("click", Bytes.EMPTY, now - 91 * DAY, page("zoo")));
      put(stele, Mutation.of("lapsed").put("profile", "animals", "0.9"));
      put(stele, Mutation.of("u000001").put("profile", "nonsense", "0.9"));

      assertThat(Profiles.job(conf, "search-users", until).waitForCompletion(false)).isTrue();
      long profiles = requireProfiles(stele, now);
      assertThat(Printed.by(new Search(), conf, "profile")).startsWith(profiles + " profiles made");
      assertThat(
              stele
                  .table("search-users")
                  .readRow("lapsed")
                  .orElseThrow()
                  .value("profile", "animals"))
          .contains(Bytes.of("0.9"));
      requireResults(stele, conf);
      requireNoHistory(stele, conf);
    }
  }

  private static void put(Stele stele, Mutation mutation) throws IOException {
    stele.table("search-users").mutate(mutation);
  }

  private static Bytes page(String word) {
    return Bytes.of("animals.example/" + word);
  }

  private static List<Row> rows(Stele stele, String table) throws IOException {
    try (Rows rows = stele.table(table).readRows(RowQuery.ALL)) {
      return rows.stream().toList();
    }
  }

  /** Of all that was recorded, the newest 100 of each type that are not above 180 days old. */
  private static void requireQuotas(List<Row> users, List<Row> all, long now) {
    assertThat(users).hasSize(USERS);
    int cut = 0;
    long soon = now - 180 * DAY + DAY / 24; // What is older may go while the test runs.
    for (int i = 0; i < USERS; i++) {
      for (String type : List.of("query", "click")) {
        List<Cell> kept =
            all.get(i).family(type).stream()
                .limit(100)
                .filter(action -> action.timestampMicros() >= soon)
                .toList();
        assertThat(users.get(i).family(type))
            .as("%s of user %d", type, i)
            .allMatch(action -> action.timestampMicros() >= now - 180 * DAY)
            .filteredOn(action -> action.timestampMicros() >= soon)
            .isEqualTo(kept);
        cut += kept.size() < all.get(i).family(type).size() ? 1 : 0;
      }
    }
    assertThat(cut).as("users above a quota").isGreaterThan(USERS / 2);
  }

  /** Compares the profiles with what the actions say, and gives how many users have one. */
  private static long requireProfiles(Stele stele, long now) throws IOException {
    long profiles = 0;
    for (Row user : rows(stele, "search-users")) {
      if (user.key().equals(Bytes.of("lapsed"))) {
        continue;
      }
      Map<String, Double> expected = new TreeMap<>();
      for (Cell query : user.family("query")) {
        List<String> meanings = MEANINGS.get(query.value().toUtf8());
        for (String topic : meanings) {
          add(expected, topic, query, now, 1.0 / meanings.size());
        }
      }
      for (Cell click : user.family("click")) {
        add(expected, click.value().toUtf8().split("\\.")[0], click, now, 3);
      }
      double sum = expected.values().stream().reduce(0.0, Double::sum);
      Map<String, Double> found = new TreeMap<>();
      for (Cell topic : user.family("profile")) {
        found.put(topic.qualifier().toUtf8(), Double.parseDouble(topic.value().toUtf8()));
      }
      assertThat(found.keySet()).as("%s", user.key()).isEqualTo(expected.keySet());
      found.forEach(
          (topic, share) ->
              assertThat(share)
                  .as("%s of %s", topic, user.key())
                  .isCloseTo(expected.get(topic) / sum, within(0.0001)));
      profiles += found.isEmpty() ? 0 : 1;
    }
    assertThat(profiles).isGreaterThan(USERS / 2);
    return profiles;
  }

  private static void add(
      Map<String, Double> profile, String topic, Cell action, long now, double weight) {
    double days = (double) (now - action.timestampMicros()) / DAY;
    if (days <= 90) {
      profile.merge(topic, weight * Math.exp(-Math.log(2) * days / 30), Double::sum);
    }
  }

  private static void requireResults(Stele stele, Configuration conf) throws Exception {
    put(
        stele,
        Mutation.of("driver").put("profile", "cars", "0.8").put("profile", "animals", "0.2"));
    assertThat(Printed.by(new Search(), conf, "find", "driver", "jaguar"))
        .isEqualTo(
            """
              jaguar                  for user driver         interest
              animals.example/jaguar  cars.example/jaguar     80 %
              cars.example/jaguar     animals.example/jaguar  20 %

            """);
    assertThat(Printed.by(new Search(), conf, "user", "u000001"))
        .containsPattern("topic +interest\n")
        .containsPattern("query +\\w+ +20");
  }

  private static void requireNoHistory(Stele stele, Configuration conf) throws Exception {
    String[] click = {"click", "u000002", "cars.example/engine"};
    assertThat(Printed.by(new Search(), conf, click)).isEqualTo("recorded\n");
    Row before = stele.table("search-users").readRow("u000002").orElseThrow();
    assertThat(before.family("click").get(0).value()).isEqualTo(Bytes.of("cars.example/engine"));
    Printed.by(new Search(), conf, "forget", "u000002");
    assertThat(Printed.by(new Search(), conf, click)).contains("history of user u000002 is off");
    Row after = stele.table("search-users").readRow("u000002").orElseThrow();
    assertThat(after.cells()).extracting(Cell::family).containsExactly("setting");
  }
}
