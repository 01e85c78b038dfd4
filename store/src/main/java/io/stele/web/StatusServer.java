package io.stele.web;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.web.StatusPage.Section;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Serves a {@link StatusPage}: as HTML at {@code /}, its metrics in the text format of Prometheus
 * at {@code /metrics}.
 *
 * <p>The JDK's own HTTP server does: a page is asked for now and then, by people and collectors.
 * Safe for use by any number of threads; pages are made on a few threads of its own, several at a
 * time. A client that sends half a request, or does not read its answer, keeps one of them from the
 * others for a minute at most.
 */
public final class StatusServer implements Closeable {
  private static final int BACKLOG = 16;

  /** Each reads a request and writes its answer, as slowly as the client does. */
  static final int THREADS = 8;

  // The JDK has no other way to say how long a request, and an answer, may take.
  static {
    setUnlessSet("sun.net.httpserver.maxReqTime", "30");
    setUnlessSet("sun.net.httpserver.maxRspTime", "60");
  }

  private final HttpServer http;
  private final WorkerPool threads;

  private StatusServer(HttpServer http, WorkerPool threads) {
    this.http = http;
    this.threads = threads;
  }

  private static void setUnlessSet(String property, String seconds) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, seconds);
    }
  }

  /**
   * Starts serving.
   *
   * @param runtime its pool makes the pages
   * @param port 0: any free one
   * @param page makes the page for every request; called by several threads
   * @throws IOException if the port is taken
   */
  public static StatusServer start(ProcessRuntime runtime, int port, Supplier<StatusPage> page)
      throws IOException {
    HttpServer http = HttpServer.create(new InetSocketAddress(port), BACKLOG);
    WorkerPool threads = runtime.pool("stele-page", THREADS);
    http.createContext(
        "/",
        exchange -> {
          if (exchange.getRequestURI().getPath().equals("/")) {
            answer(exchange, "text/html", page, StatusServer::html);
          } else {
            answer(exchange, 404, "text/plain", "There are two pages: / and /metrics\n");
          }
        });
    http.createContext(
        "/metrics", exchange -> answer(exchange, "text/plain", page, StatusServer::metrics));
    http.setExecutor(threads);
    http.start();
    return new StatusServer(http, threads);
  }

  /** The port it serves on. */
  public int port() {
    return http.getAddress().getPort();
  }

  @Override
  public void close() {
    http.stop(0);
    threads.close();
  }

  private static void answer(
      HttpExchange exchange,
      String type,
      Supplier<StatusPage> page,
      Function<StatusPage, String> format)
      throws IOException {
    String text;
    try {
      text = format.apply(page.get());
    } catch (RuntimeException e) {
      answer(exchange, 500, "text/plain", "The page could not be made: " + e);
      return;
    }
    answer(exchange, 200, type, text);
  }

  private static void answer(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    try (exchange) {
      byte[] body = text.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  private static String html(StatusPage page) {
    return """
        <!doctype html>
        <title>%1$s</title>
        <style>
        body { font: 15px/1.4 sans-serif; margin: 2em }
        table { border-collapse: collapse }
        th, td { text-align: left; padding: .2em 1em .2em 0; border-bottom: 1px solid #ddd }
        </style>
        <h1>%1$s</h1>
        %2$s
        <p><a href="metrics">metrics</a></p>
        """
        .formatted(
            escape(page.title()),
            page.sections().stream().map(StatusServer::table).collect(Collectors.joining("\n")));
  }

  private static String table(Section section) {
    if (section.rows().isEmpty()) {
      return "<h2>" + escape(section.heading()) + "</h2>\n<p>none</p>";
    }
    String head = row("th", section.columns());
    String body =
        section.rows().stream().map(row -> row("td", row)).collect(Collectors.joining("\n"));
    return "<h2>"
        + escape(section.heading())
        + "</h2>\n<table>\n"
        + head
        + "\n"
        + body
        + "\n</table>";
  }

  private static String row(String element, List<String> fields) {
    return fields.stream()
        .map(field -> "<" + element + ">" + text(field) + "</" + element + ">")
        .collect(Collectors.joining("", "<tr>", "</tr>"));
  }

  private static String text(String field) {
    String text = escape(field);
    return field.startsWith("http://") ? "<a href=\"" + text + "\">" + text + "</a>" : text;
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  private static String metrics(StatusPage page) {
    return page.metrics().stream()
        .sorted(Comparator.comparing(Metric::name))
        .map(StatusServer::lines)
        .collect(Collectors.joining());
  }

  private static String lines(Metric metric) {
    String head =
        """
        # HELP %1$s %2$s
        # TYPE %1$s %3$s
        """
            .formatted(metric.name(), metric.help(), metric.type().name().toLowerCase(Locale.ROOT));
    return metric.samples().stream()
        .map(sample -> metric.name() + sample.suffix() + " " + sample.value() + "\n")
        .collect(Collectors.joining("", head, ""));
  }
}
