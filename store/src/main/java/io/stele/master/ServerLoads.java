package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.wire.HostShare;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The loads of servers: number, bytes and requests per second of their tablets, by server and by
 * table; and the hosts on which the tablets' bytes lie, as far as servers have reported that. They
 * are updated by changes; the cost of each update does not depend on the number of tablets, so no
 * decision looks at all of them.
 *
 * <p>Sums are whole numbers: they depend on the current tablets, not on the changes that led to
 * them.
 *
 * <p>For one thread.
 */
public final class ServerLoads {
  private static final double MILLI = 1000;
  private static final double BUSY_RATE = 100; // A second: a server can do hundreds of times that.

  private final Map<TabletId, Tablet> tablets = new HashMap<>();
  private final Map<ServerId, Server> servers = new HashMap<>();
  private final Map<TableId, Table> tables = new TreeMap<>();
  private final Set<TabletId> away = new TreeSet<>();
  private final Set<TabletId> busy = new TreeSet<>();
  private final Sum all = new Sum();
  private final HostNumbers hosts;

  /** No server has a tablet yet. */
  public ServerLoads() {
    this(new HostNumbers());
  }

  /**
   * No server has a tablet yet.
   *
   * @param hosts the numbers that reports about tablets use
   */
  ServerLoads(HostNumbers hosts) {
    this.hosts = hosts;
  }

  /** The sum of some tablets' loads. */
  public static class Sum {
    private int tablets;
    private long bytes;
    private long milliRate;

    final void add(Tablet tablet, int sign) {
      tablets += sign;
      bytes += sign * tablet.bytes;
      milliRate += sign * tablet.milliRate();
    }

    final Sum copy() {
      Sum copy = new Sum();
      copy.tablets = tablets;
      copy.bytes = bytes;
      copy.milliRate = milliRate;
      return copy;
    }

    /** The number of tablets. */
    public final int count() {
      return tablets;
    }

    /** The size of their SSTables. */
    public final long bytes() {
      return bytes;
    }

    /** Requests per second. */
    final double rate() {
      return milliRate / MILLI;
    }
  }

  /** A tablet. */
  static final class Tablet {
    private static final long UNKNOWN = -1;

    private final TabletId id;
    private final long bytes;
    private final boolean loaded;
    private final @Nullable Share share; // None: no server has it.
    private int place; // Among those of the server.
    private long milliRate = UNKNOWN;
    private long localHosts = LocalHosts.UNKNOWN;

    private Tablet(TabletId id, long bytes, boolean loaded, @Nullable Share share) {
      this.id = id;
      this.bytes = bytes;
      this.loaded = loaded;
      this.share = share;
    }

    TabletId id() {
      return id;
    }

    long bytes() {
      return bytes;
    }

    boolean isLoaded() {
      return loaded;
    }

    Optional<ServerId> server() {
      return Optional.ofNullable(share).map(one -> one.server.id);
    }

    /** The share of its server in its table; only if a server has the tablet. */
    Share share() {
      return Objects.requireNonNull(share);
    }

    boolean isOf(Share some) {
      return share == some;
    }

    private long milliRate() {
      return Math.max(0, milliRate);
    }

    boolean isMeasured() {
      return milliRate != UNKNOWN;
    }

    /**
     * How many more of its bytes, as far as that is known, lie on its server's host than on another
     * host.
     */
    double bytesAwayOn(int host) {
      return localHosts == LocalHosts.UNKNOWN
          ? 0
          : bytes
              * (LocalHosts.share(localHosts, share().server.host)
                  - LocalHosts.share(localHosts, host));
    }

    /** The recent requests per second; 0 while unknown. */
    double rate() {
      return milliRate() / MILLI;
    }
  }

  /** The tablets of one table that one server has. */
  static final class Share extends Sum {
    private final Server server;
    private final Table table;

    private Share(Server server, Table table) {
      this.server = server;
      this.table = table;
    }

    ServerId server() {
      return server.id;
    }

    TableId table() {
      return table.id;
    }
  }

  /** A server that has tablets. */
  static final class Server extends Sum {
    private final ServerId id;
    private final int host;
    private final List<Tablet> tablets = new ArrayList<>();
    private final Map<TableId, Share> shares = new HashMap<>();

    private Server(ServerId id, int host) {
      this.id = id;
      this.host = host;
    }

    /** In no order. */
    List<Tablet> tablets() {
      return Collections.unmodifiableList(tablets);
    }

    /** Its share of {@code table}, if any. */
    Optional<Share> of(TableId table) {
      return Optional.ofNullable(shares.get(table));
    }
  }

  /** A table of which servers have tablets. */
  static final class Table {
    private final TableId id;
    private final Set<Share> crowded = new HashSet<>(); // Those of more than one tablet.
    private long tablets;
    private long squares; // The sum of the squares of the shares' sizes.

    private Table(TableId id) {
      this.id = id;
    }

    TableId id() {
      return id;
    }

    /** How much more uneven the table is than necessary with this many servers; 0: spread well. */
    long excess(int servers) {
      long each = tablets / servers;
      return squares - (servers * each * each + (tablets % servers) * (2 * each + 1));
    }

    /** The shares of more than one tablet, in no order. */
    Collection<Share> crowded() {
      return Collections.unmodifiableSet(crowded);
    }

    private void sized(Share share, int before) {
      int now = share.count();
      tablets += now - before;
      squares += (long) now * now - (long) before * before;
      if (now > 1) {
        crowded.add(share);
      } else {
        crowded.remove(share);
      }
    }
  }

  /** Adds a tablet, or updates its assignment and bytes. */
  public void put(TabletId id, Assignment assignment, long bytes) {
    boolean loaded = assignment.state() == Assignment.State.LOADED;
    Tablet before = tablets.get(id);
    if (before != null
        && before.bytes == bytes
        && before.loaded == loaded
        && before.server().equals(assignment.server())) {
      return;
    }
    remove(id);
    @Nullable Share share =
        assignment.server().map(server -> share(server, id.table())).orElse(null);
    Tablet tablet = new Tablet(id, bytes, loaded, share);
    if (before != null) {
      tablet.milliRate = before.milliRate;
      tablet.localHosts = before.localHosts;
    }
    tablets.put(id, tablet);
    add(tablet, 1);
    noteBusy(tablet);
    if (share != null) {
      tablet.place = share.server.tablets.size();
      share.server.tablets.add(tablet);
      share.table.sized(share, share.count() - 1);
    }
    if (!loaded) {
      away.add(id);
    }
  }

  private Share share(ServerId server, TableId table) {
    return servers
        .computeIfAbsent(server, id -> new Server(id, hosts.of(id.host())))
        .shares
        .computeIfAbsent(
            table,
            id ->
                new Share(
                    Objects.requireNonNull(servers.get(server)),
                    tables.computeIfAbsent(id, Table::new)));
  }

  private void add(Tablet tablet, int sign) {
    all.add(tablet, sign);
    if (tablet.share != null) {
      tablet.share.add(tablet, sign);
      tablet.share.server.add(tablet, sign);
    }
  }

  /** Removes a tablet. */
  public void remove(TabletId id) {
    Tablet tablet = tablets.remove(id);
    if (tablet == null) {
      return;
    }
    add(tablet, -1);
    away.remove(id);
    busy.remove(id);
    Share share = tablet.share;
    if (share == null) {
      return;
    }
    List<Tablet> others = share.server.tablets;
    Tablet last = others.remove(others.size() - 1);
    if (last != tablet) {
      others.set(tablet.place, last);
      last.place = tablet.place;
    }
    share.table.sized(share, share.count() + 1);
    if (share.count() == 0) {
      share.server.shares.remove(share.table.id);
      if (others.isEmpty()) {
        servers.remove(share.server.id);
      }
    }
    if (share.table.tablets == 0) {
      tables.remove(share.table.id);
    }
  }

  /**
   * Updates a tablet's rate with the latest interval: a quarter of the new rate is this
   * measurement, the rest the old rate, even if that was measured at another server. So the server
   * that gets a hot tablet does not look idle.
   */
  public void measured(TabletId id, double perSecond) {
    Tablet tablet = tablets.get(id);
    if (tablet == null) {
      return;
    }
    long now = Math.round(perSecond * MILLI);
    add(tablet, -1);
    tablet.milliRate = tablet.milliRate == Tablet.UNKNOWN ? now : (3 * tablet.milliRate + now) / 4;
    add(tablet, 1);
    noteBusy(tablet);
  }

  /**
   * A server reported a tablet: its requests per second in the latest interval, and where its bytes
   * lie, unless the server does not know that: then what was known before remains.
   */
  void reported(TabletId id, double perSecond, long localHosts) {
    measured(id, perSecond);
    Tablet tablet = tablets.get(id);
    if (tablet != null && localHosts != LocalHosts.UNKNOWN) {
      tablet.localHosts = localHosts;
    }
  }

  /** A server reported on which hosts a tablet's bytes lie. */
  public void located(TabletId id, List<HostShare> shares) {
    Tablet tablet = tablets.get(id);
    if (tablet != null) {
      tablet.localHosts = LocalHosts.of(shares, hosts);
    }
  }

  /** The hosts on which most of a tablet's bytes lie, the best first; none if that is unknown. */
  public List<HostShare> localHosts(TabletId id) {
    Tablet tablet = tablets.get(id);
    return tablet == null ? List.of() : LocalHosts.shares(tablet.localHosts, hosts);
  }

  /** The numbers of hosts. */
  HostNumbers hosts() {
    return hosts;
  }

  private void noteBusy(Tablet tablet) {
    if (tablet.rate() >= BUSY_RATE) {
      busy.add(tablet.id);
    } else {
      busy.remove(tablet.id);
    }
  }

  /** The tablet of this id, if it is known. */
  Optional<Tablet> tablet(TabletId id) {
    return Optional.ofNullable(tablets.get(id));
  }

  /** The server's load, if it has tablets. */
  Optional<Server> server(ServerId id) {
    return Optional.ofNullable(servers.get(id));
  }

  /**
   * The load of each server without {@code some} tablets. The cost grows with the number of servers
   * and of these tablets.
   */
  public Map<ServerId, Sum> without(Collection<TabletId> some) {
    Map<ServerId, Sum> left = new HashMap<>();
    servers.forEach((id, server) -> left.put(id, server.copy()));
    for (TabletId id : some) {
      Tablet tablet = tablets.get(id);
      if (tablet != null && tablet.share != null) {
        Objects.requireNonNull(left.get(tablet.share.server.id)).add(tablet, -1);
      }
    }
    return left;
  }

  /** The servers that have tablets. */
  Set<ServerId> servers() {
    return Collections.unmodifiableSet(servers.keySet());
  }

  /** By id. */
  Collection<Table> tables() {
    return Collections.unmodifiableCollection(tables.values());
  }

  /** The sum of all loads. */
  Sum all() {
    return all;
  }

  /** The ids of tablets with so many requests that they may be hot. */
  Set<TabletId> busy() {
    return Collections.unmodifiableSet(busy);
  }

  /** The ids of tablets that no server serves. */
  Set<TabletId> away() {
    return Collections.unmodifiableSet(away);
  }
}
