package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Schemas that changed and that not every live server is known to have read yet.
 *
 * <p>A server that starts later reads the current schemas. Safe for use by any number of threads;
 * never waits.
 */
final class SchemaNews {
  private final TabletServers servers;
  private final Supplier<Map<ServerId, ServerInfo>> live;

  @GuardedBy("this")
  private final Map<TableId, News> all = new TreeMap<>();

  /** A version of a schema, and the servers that have read it or a newer one. */
  private record News(StoredTable table, Set<ServerId> told) {}

  /** Tells through {@code servers} those that are {@code live}. */
  SchemaNews(TabletServers servers, Supplier<Map<ServerId, ServerInfo>> live) {
    this.servers = servers;
    this.live = live;
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
        news = new News(table, new TreeSet<>());
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
    Optional<ServerId> left = Optional.empty();
    for (Map.Entry<ServerId, ServerInfo> server : live.get().entrySet()) {
      synchronized (this) {
        if (news.told().contains(server.getKey())) {
          continue;
        }
      }
      left = Optional.of(server.getKey());
      servers.refreshSchema(
          server.getValue(), news.table().schema().name(), () -> told(news, server.getKey()));
    }
    return left;
  }

  private synchronized void told(News news, ServerId server) {
    news.told().add(server);
  }
}
