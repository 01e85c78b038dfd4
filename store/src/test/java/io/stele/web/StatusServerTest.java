package io.stele.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.web.StatusPage.Section;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StatusServerTest {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;

  /** A test that would wait forever fails instead. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private static final StatusPage PAGE =
      new StatusPage(
          "Tablet server <1>",
          List.of(new Section("Tablets", List.of("id", "rows"), List.of(List.of("t1/a", "\"x\"")))),
          List.of(
              Metric.counter("stele_b_total", "What was done", 2),
              Metric.gauge("stele_a", "What there is", 1.5)));

  @Test
  void thePageShowsEverySectionEscaped() throws Exception {
    try (StatusServer server = StatusServer.start(RUNTIME, 0, () -> PAGE)) {
      assertThat(fetch(server, "/").body())
          .contains("<h1>Tablet server &lt;1&gt;</h1>")
          .contains("<td>t1/a</td><td>&quot;x&quot;</td>");
    }
  }

  @Test
  void addressesAreLinksAndAnEmptySectionSaysSo() throws Exception {
    StatusPage page =
        new StatusPage(
            "Master",
            List.of(
                new Section("Servers", List.of("page"), List.of(List.of("http://h:1/?a&b"))),
                new Section("Recoveries", List.of("server"), List.of())),
            List.of());
    try (StatusServer server = StatusServer.start(RUNTIME, 0, () -> page)) {
      assertThat(fetch(server, "/").body())
          .contains("<td><a href=\"http://h:1/?a&amp;b\">http://h:1/?a&amp;b</a></td>")
          .contains("<h2>Recoveries</h2>\n<p>none</p>");
    }
  }

  @Test
  void otherPathsAreNotFound() throws Exception {
    try (StatusServer server = StatusServer.start(RUNTIME, 0, () -> PAGE)) {
      assertThat(fetch(server, "/nope").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void metricsAreInOrderEachWithItsMeaningAndType() throws Exception {
    try (StatusServer server = StatusServer.start(RUNTIME, 0, () -> PAGE)) {
      assertThat(fetch(server, "/metrics").body())
          .isEqualTo(
              """
              # HELP stele_a What there is
              # TYPE stele_a gauge
              stele_a 1.5
              # HELP stele_b_total What was done
              # TYPE stele_b_total counter
              stele_b_total 2
              """);
    }
  }

  @Test
  void aHistogramHasItsBucketsItsSumAndItsCount() throws Exception {
    TimeHistogram times = new TimeHistogram();
    times.record(TimeUnit.MICROSECONDS.toNanos(100));
    times.record(TimeUnit.MICROSECONDS.toNanos(101));
    times.record(TimeUnit.SECONDS.toNanos(20));
    StatusPage page =
        new StatusPage(
            "Times", List.of(), List.of(Metric.histogram("stele_read_seconds", "Reads", times)));
    try (StatusServer server = StatusServer.start(RUNTIME, 0, () -> page)) {
      assertThat(fetch(server, "/metrics").body())
          .startsWith(
              """
              # HELP stele_read_seconds Reads
              # TYPE stele_read_seconds histogram
              stele_read_seconds_bucket{le="1.0E-4"} 1
              stele_read_seconds_bucket{le="2.5E-4"} 2
              """)
          .endsWith(
              """
              stele_read_seconds_bucket{le="10.0"} 2
              stele_read_seconds_bucket{le="+Inf"} 3
              stele_read_seconds_sum 20.000201
              stele_read_seconds_count 3
              """);
    }
  }

  @Test
  void linksAreRelativeSoThatTheyLeadThroughAProxyToo() throws Exception {
    try (StatusServer server = StatusServer.start(RUNTIME, 0, () -> PAGE)) {
      assertThat(fetch(server, "/").body()).contains("href=\"metrics\"").doesNotContain("href=\"/");
    }
  }

  @Test
  void aPageThatCannotBeMadeSaysSo() throws Exception {
    try (StatusServer server =
        StatusServer.start(
            RUNTIME,
            0,
            () -> {
              throw new IllegalStateException("no tablets yet");
            })) {
      HttpResponse<String> answer = fetch(server, "/");
      assertThat(answer.statusCode()).isEqualTo(500);
      assertThat(answer.body()).contains("no tablets yet");
    }
  }

  @Test
  void clientsThatSendHalfARequestDoNotKeepOthersWaiting() throws Exception {
    List<Socket> halves = new ArrayList<>();
    try (StatusServer server = StatusServer.start(RUNTIME, 0, () -> PAGE)) {
      for (int i = 1; i < StatusServer.THREADS; i++) {
        Socket half = new Socket("localhost", server.port());
        halves.add(half);
        half.getOutputStream().write("GET /metr".getBytes(StandardCharsets.US_ASCII));
      }
      assertThat(fetch(server, "/metrics").statusCode()).isEqualTo(200);
    } finally {
      for (Socket half : halves) {
        half.close();
      }
    }
  }

  private static HttpResponse<String> fetch(StatusServer server, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
                .timeout(PATIENCE)
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }
}
