package io.stele.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.ClusterStatus;
import io.stele.model.TableId;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The table of metrics in the operator's manual, and what the processes print. */
@Timeout(120)
class MetricsTableTest {
  private static final Path MANUAL = Path.of("..", "docs", "operations.md");
  private static final Pattern ROW =
      Pattern.compile("\\| `(stele_\\w+(?:\\{[\\w,]+}\\w+)?)` \\| (\\w+) \\| (.+) \\|");
  private static final Pattern CHOICE = Pattern.compile("(\\w+)\\{([\\w,]+)}(\\w+)");
  private static final Pattern PRINTED =
      Pattern.compile(
          "# HELP (\\w+) (.+)\n# TYPE \\1 (\\w+)\n"
              + "(?:\\1(?:_bucket\\{le=\"[^\"]+\"}|_sum|_count)? \\S+\n)+");

  @Test
  void theManualHasEveryMetricWithItsTypeAndMeaning() throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1)) {
      cluster.awaitServed(TableId.METADATA);
      ClusterStatus status = cluster.client().admin().clusterStatus();
      List<String> printed = new ArrayList<>();
      printed.addAll(metrics(status.webAddress().orElseThrow()));
      printed.addAll(metrics(status.servers().get(0).webAddress().orElseThrow()));
      assertThat(table()).containsExactlyInAnyOrderElementsOf(printed);
    }
  }

  private static List<String> metrics(String address) throws Exception {
    String text =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create("http://" + address + "/metrics")).build(),
                HttpResponse.BodyHandlers.ofString())
            .body();
    List<String> found =
        PRINTED
            .matcher(text)
            .results()
            .map(one -> one.group(1) + " " + one.group(3) + " " + one.group(2))
            .toList();
    assertThat(PRINTED.matcher(text).replaceAll("")).isEmpty();
    return found;
  }

  private static List<String> table() throws Exception {
    return Files.readAllLines(MANUAL).stream()
        .map(ROW::matcher)
        .filter(Matcher::matches)
        .flatMap(
            row -> names(row.group(1)).map(name -> name + " " + row.group(2) + " " + row.group(3)))
        .toList();
  }

  private static Stream<String> names(String name) {
    Matcher choice = CHOICE.matcher(name);
    return choice.matches()
        ? Stream.of(choice.group(2).split(",")).map(one -> choice.group(1) + one + choice.group(3))
        : Stream.of(name);
  }
}
