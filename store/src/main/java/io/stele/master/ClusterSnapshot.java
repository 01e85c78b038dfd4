package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.LoadTrouble;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.wire.HostShare;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The master's knowledge of the cluster at one moment, as far as its decisions depend on it.
 *
 * @param servers those that hold their locks
 * @param fenced servers that can certainly write nothing any more
 * @param tablets as their records were last read: system tablets, and all others that are not
 *     served, must be dropped, or must move
 * @param dropping tables whose tablets must be dropped
 * @param moves tablets that must move to other servers
 */
public record ClusterSnapshot(
    List<Server> servers,
    Set<ServerId> fenced,
    List<Tablet> tablets,
    Set<TableId> dropping,
    Map<TabletId, Move> moves) {
  public ClusterSnapshot {
    servers = List.copyOf(servers);
    fenced = Set.copyOf(fenced);
    tablets = List.copyOf(tablets);
    dropping = Set.copyOf(dropping);
    moves = Map.copyOf(moves);
  }

  /** A snapshot in which no tablet will move. */
  public ClusterSnapshot(
      List<Server> servers, Set<ServerId> fenced, List<Tablet> tablets, Set<TableId> dropping) {
    this(servers, fenced, tablets, dropping, Map.of());
  }

  /**
   * What balancing depends on, beside what servers have of the tables.
   *
   * @param hidden tables about whose tablets nothing is done
   * @param away how many tablets wait to be served
   */
  Balancer.Cluster toBalance(Set<TableId> hidden, int away) {
    Set<TableId> leftAlone = new TreeSet<>(dropping);
    leftAlone.addAll(hidden);
    return new Balancer.Cluster(
        servers.stream()
            .filter(server -> server.takes() == Takes.ALL && !fenced.contains(server.id()))
            .map(Server::id)
            .toList(),
        tablets.stream().filter(tablet -> tablet.id().table().equals(TableId.METADATA)).toList(),
        leftAlone,
        moves,
        away);
  }

  /**
   * A tablet that will move to another server.
   *
   * @param from the server that has it, or had it
   * @param to the target; empty: any other server
   */
  public record Move(ServerId from, Optional<ServerId> to) {}

  /** Which tablets a server gets. */
  public enum Takes {
    /** All tablets. */
    ALL,

    /** A draining server: only METADATA's tablets, and only if no server takes all. */
    METADATA_IF_NO_OTHER,

    /**
     * A server that does not answer the master: only METADATA's tablets, and only if all servers
     * are like that.
     */
    LAST_RESORT
  }

  /**
   * A server that holds its lock.
   *
   * @param inDoubt whether it may have just fallen silent; METADATA's tablets, for which everything
   *     waits, then go to others if there are any
   * @param tablets how many tablets it has that are not in the snapshot, because nothing is to be
   *     done about them
   * @param bytes of the SSTables of these
   */
  public record Server(ServerId id, Takes takes, boolean inDoubt, int tablets, long bytes) {
    /**
     * A server that answers and has no tablets except those of the snapshot.
     *
     * @param draining whether it gives its tablets away
     */
    public Server(ServerId id, boolean draining) {
      this(id, draining ? Takes.METADATA_IF_NO_OTHER : Takes.ALL, false, 0, 0);
    }

    /**
     * A server.
     *
     * @param others what servers have that is not in the snapshot
     */
    public static Server of(
        ServerId id, Takes takes, boolean inDoubt, Map<ServerId, ServerLoads.Sum> others) {
      ServerLoads.Sum has = others.get(id);
      return has == null
          ? new Server(id, takes, inDoubt, 0, 0)
          : new Server(id, takes, inDoubt, has.count(), has.bytes());
    }
  }

  /**
   * A tablet.
   *
   * @param row the key of its row in METADATA
   * @param extent its rows
   * @param bytes of its SSTables
   * @param failedOn the server that could not load it last
   * @param localHosts the hosts on which most of its bytes lie, as far as that is known; the best
   *     first
   */
  public record Tablet(
      TabletId id,
      Bytes row,
      RowRange extent,
      Assignment assignment,
      long bytes,
      Optional<ServerId> failedOn,
      List<HostShare> localHosts) {
    public Tablet {
      localHosts = List.copyOf(localHosts);
    }

    /** A tablet of whose bytes it is not known where they lie. */
    public Tablet(
        TabletId id,
        Bytes row,
        RowRange extent,
        Assignment assignment,
        long bytes,
        Optional<ServerId> failedOn) {
      this(id, row, extent, assignment, bytes, failedOn, List.of());
    }

    /**
     * The tablet of {@code record}.
     *
     * @param reported where its bytes lie, according to its server; if that is unknown, all are
     *     assumed to lie on the host of the last server
     */
    public static Tablet of(TabletRecord record, List<HostShare> reported) {
      List<HostShare> localHosts = reported;
      if (reported.isEmpty()) {
        localHosts =
            record.assignment().host().stream()
                .map(host -> new HostShare(HostShare.name(host), 100))
                .toList();
      }
      return new Tablet(
          record.id(),
          record.row(),
          record.extent(),
          record.assignment(),
          record.fileBytes(),
          record.trouble().map(LoadTrouble::server),
          localHosts);
    }
  }
}
