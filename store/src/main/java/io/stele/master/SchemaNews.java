package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Schemas that have changed, and that some server which may answer clients has perhaps not read
 * yet.
 *
 * <p>A server that starts later reads the current schemas. A server that has lost its lock cannot
 * be told. The master waits out its lease instead, because under the lease clients still read by
 * the old schema. Safe for use by any number of threads; never waits.
 */
final class SchemaNews {
  private static final Duration ASK_EVERY = Duration.ofMillis(500);

  private final ProcessRuntime runtime;
  private final TabletServers servers;
  private final Supplier<ServerWatch.Answering> answering;

  @GuardedBy("this")
  private final Map<TableId, News> all = new TreeMap<>();

  /**
   * A version of a schema.
   *
   * @param told the servers that have read it or a newer one
   * @param askedNanos when each was asked the last time
   */
  private record News(StoredTable table, Set<ServerId> told, Map<ServerId, Long> askedNanos) {}

  /** Tells through {@code servers} those that are live of those {@code answering}. */
  SchemaNews(
      ProcessRuntime runtime, TabletServers servers, Supplier<ServerWatch.Answering> answering) {
    this.runtime = runtime;
    this.servers = servers;
    this.answering = answering;
  }

  /**
   * Tells all servers of {@code table}'s schema, in the background; asked again, those that could
   * not be told before.
   *
   * @return a server that may not know it yet; empty if none is left, which is said once
   */
  Optional<ServerId> spread(StoredTable table) {
    News news;
    synchronized (this) {
      news = all.get(table.id());
      if (news == null || news.table().version() < table.version()) {
        news = new News(table, new TreeSet<>(), new TreeMap<>());
        all.put(table.id(), news);
      }
    }
    Optional<ServerId> left = tell(news);
    if (left.isEmpty()) {
      synchronized (this) {
        all.remove(table.id(), news);
      }
    }
    return left;
  }

  private Optional<ServerId> tell(News news) {
    ServerWatch.Answering now = answering.get();
    Optional<ServerId> left =
        now.leased().stream().filter(server -> !isTold(news, server)).findFirst();
    for (Map.Entry<ServerId, ServerInfo> server : now.live().entrySet()) {
      if (isTold(news, server.getKey())) {
        continue;
      }
      left = Optional.of(server.getKey());
      if (mayAsk(news, server.getKey())) {
        servers.refreshSchema(
            server.getValue(), news.table().schema().name(), () -> told(news, server.getKey()));
      }
    }
    return left;
  }

  private synchronized boolean isTold(News news, ServerId server) {
    return news.told().contains(server);
  }

  /**
   * Whether it is time to ask again: a server that is committing a compaction refuses at once, and
   * would be asked all the time.
   */
  private synchronized boolean mayAsk(News news, ServerId server) {
    long now = runtime.nanoTime();
    Long last = news.askedNanos().get(server);
    boolean due = last == null || now - last >= ASK_EVERY.toNanos();
    if (due) {
      news.askedNanos().put(server, now);
    }
    return due;
  }

  private synchronized void told(News news, ServerId server) {
    news.told().add(server);
  }
}
