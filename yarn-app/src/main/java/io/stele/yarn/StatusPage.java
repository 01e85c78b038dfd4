package io.stele.yarn;

import com.sun.net.httpserver.HttpServer;
import io.stele.wire.application.ApplicationProtos.ComponentProto;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** The application's page, to which YARN's proxy leads: what runs where. */
final class StatusPage implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads;

  /** Serves what {@code status} says at the time, on any free port. */
  StatusPage(String name, Supplier<StatusResponseProto> status) throws IOException {
    server = HttpServer.create(new InetSocketAddress(0), 0);
    threads =
        Executors.newFixedThreadPool(
            2,
            runnable -> {
              Thread thread = new Thread(runnable, "status-page");
              thread.setDaemon(true);
              return thread;
            });
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          byte[] page = page(name, status.get()).getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
          exchange.sendResponseHeaders(200, page.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(page);
          }
        });
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  static String page(String name, StatusResponseProto status) {
    StringBuilder html = new StringBuilder(1024);
    html.append("<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>")
        .append(escape(name))
        .append("</title><meta http-equiv=\"refresh\" content=\"5\"><style>")
        .append("body{font-family:sans-serif}td,th{text-align:left;padding:2px 12px 2px 0}")
        .append("</style></head><body><h1>")
        .append(escape(name))
        .append("</h1>");
    if (status.getStopping()) {
      html.append("<p>The application is being stopped.</p>");
    }
    html.append("<table><tr><th>Component</th><th>State</th><th>Node</th><th>Container</th>")
        .append("<th>Restarts</th><th>Note</th></tr>");
    for (ComponentProto component : status.getComponentsList()) {
      html.append("<tr><td>")
          .append(escape(component.getId()))
          .append("</td><td>")
          .append(escape(component.getState()))
          .append("</td><td>")
          .append(escape(component.getNode()))
          .append("</td><td>")
          .append(escape(component.getContainer()))
          .append("</td><td>")
          .append(component.getRestarts())
          .append("</td><td>")
          .append(escape(component.getNote()))
          .append("</td></tr>");
    }
    return html.append("</table></body></html>\n").toString();
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
