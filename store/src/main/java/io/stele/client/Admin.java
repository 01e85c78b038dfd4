package io.stele.client;

import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletEvents;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableRules;
import io.stele.model.TableSchema;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.BalanceRequestProto;
import io.stele.wire.control.ControlProtos.BalanceResponseProto;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Makes, changes and describes tables, through the master.
 *
 * <p>Every call throws {@link io.stele.model.SteleException} RETRY_LATER if no master is active
 * within {@code stele.client.timeout}, and {@link IOException} where the thread was interrupted or
 * the lock service cannot be reached.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Admin {
  private static final Duration COMPACTION_MAX = Duration.ofHours(6);

  private final Connection connection;
  private final ClusterCalls calls;
  private final TableChangeRequests changes;
  private final TabletChanges tablets;
  private final ClusterRepairs repairs;
  private final ServerRestarts restarts;

  Admin(Connection connection) {
    this.connection = connection;
    this.calls = new ClusterCalls(connection);
    this.changes = new TableChangeRequests(calls);
    this.tablets = new TabletChanges(calls);
    this.repairs = new ClusterRepairs(calls);
    this.restarts = new ServerRestarts(calls);
  }

  /** What makes its calls. */
  ClusterCalls calls() {
    return calls;
  }

  /**
   * Creates a table of one tablet; it can be used when this returns. See {@link
   * #createTable(TableSchema, List)}.
   *
   * @throws io.stele.model.SteleException REFUSED if there is one of that name
   */
  public void createTable(TableSchema schema) throws IOException {
    createTable(schema, List.of());
  }

  /**
   * Creates a table cut into tablets at the given rows; it can be used when this returns.
   *
   * <p>Where that takes longer than {@code stele.client.timeout} the outcome is unknown, as the
   * master goes on. While another change is made to a table of that name, this waits for it.
   *
   * @param splitRows each is the first row of a further tablet; in any order
   * @throws io.stele.model.SteleException REFUSED if there is one of that name, or where {@link
   *     TableRules} do not allow it; OUTCOME_UNKNOWN if it may still come
   */
  public void createTable(TableSchema schema, List<Bytes> splitRows) throws IOException {
    changes.create(schema, splitRows).await();
  }

  /**
   * Begins what {@link #createTable(TableSchema, List)} does, and returns when the master has
   * written it down.
   */
  public TableChange beginCreateTable(TableSchema schema, List<Bytes> splitRows)
      throws IOException {
    return changes.create(schema, splitRows).begun();
  }

  /**
   * Gives the table of that name another schema, whatever it has now. What a family that is no
   * longer in it held is gone.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name
   */
  public void alterTable(TableSchema schema) throws IOException {
    changes.alter(Optional.empty(), schema).await();
  }

  /**
   * Gives a table another schema, made from the one it had when it was described.
   *
   * @param before as {@link #describeTable} gave it
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name, REFUSED if
   *     somebody else has altered it since: nothing was changed
   */
  public void alterTable(TableSchema before, TableSchema after) throws IOException {
    changes.alter(Optional.of(before), after).await();
  }

  /** Begins what {@link #alterTable(TableSchema, TableSchema)} does. */
  public TableChange beginAlterTable(TableSchema before, TableSchema after) throws IOException {
    return changes.alter(Optional.of(before), after).begun();
  }

  /**
   * Makes every tablet server write the table's memtables to SSTables, and then rewrite all its
   * SSTables, without garbage and as the schema's locality groups want them now. Returns when that
   * is done, which may take long; a tablet that moves during it may be left out.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name
   * @throws IOException if a server could not, or was lost: nothing is lost by trying again
   */
  public void compactTable(String name) throws IOException {
    CompactTableRequestProto request =
        CompactTableRequestProto.newBuilder().setTableId(calls.stored(name).id().value()).build();
    for (ServerInfo server : ClusterCalls.servers(connection).values()) {
      connection
          .controlPlane()
          .call(
              server.control(),
              TabletServerProtocol.class,
              COMPACTION_MAX,
              one -> one.compactTable(null, request));
    }
  }

  /**
   * Drops a table and all it holds; nothing is left of it when this returns. While another change
   * is made to it, this waits for that.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name
   */
  public void dropTable(String name) throws IOException {
    changes.drop(name).await();
  }

  /** Begins what {@link #dropTable} does. */
  public TableChange beginDropTable(String name) throws IOException {
    return changes.drop(name).begun();
  }

  /**
   * Deletes all rows of a table, at the cost of its tablets, not of its rows. See {@link
   * #deleteRows}.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name;
   *     OUTCOME_UNKNOWN if rows may still go
   */
  public void truncateTable(String name) throws IOException {
    deleteRows(name, RowRange.ALL);
  }

  /**
   * Deletes all there is in some rows of a table, whatever timestamps it has, at the cost of the
   * tablets with these rows. When this returns, what was written before it began is gone, and what
   * is written from then on stays. Meanwhile each row goes at one moment, with all others of its
   * tablet; tablets go one by one. While another change is made to the table, this waits for it.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     the range is empty; OUTCOME_UNKNOWN if rows may still go
   */
  public void deleteRows(String name, RowRange rows) throws IOException {
    changes.clear(name, rows).await();
  }

  /** Begins what {@link #deleteRows} does; all rows: what {@link #truncateTable} does. */
  public TableChange beginDeleteRows(String name, RowRange rows) throws IOException {
    return changes.clear(name, rows).begun();
  }

  /**
   * A change of a table that was begun by whoever it was, also by a process that is gone.
   *
   * @param id as {@link TableChange#id} gives it
   * @throws io.stele.model.SteleException REFUSED if that is no id of a change
   */
  public TableChange tableChange(String id) {
    return changes.attach(id);
  }

  /**
   * The schema of a table, read from the lock service: no master is needed.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name
   */
  public TableSchema describeTable(String name) throws IOException {
    return calls.stored(name).schema();
  }

  /**
   * The id of a table.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name
   */
  TableId tableId(String name) throws IOException {
    return calls.stored(name).id();
  }

  /** The schemas of all tables, by name. */
  public List<TableSchema> listTables() throws IOException {
    return connection
        .readLocks("reading the schemas", () -> connection.schemas().list())
        .tables()
        .stream()
        .filter(table -> table.state() == StoredTable.State.READY)
        .map(StoredTable::schema)
        .sorted(Comparator.comparing(TableSchema::name))
        .toList();
  }

  /** The cluster as its master sees it. */
  public ClusterStatus clusterStatus() throws IOException {
    return StatusReader.read(calls);
  }

  /**
   * Releases a tablet from quarantine, so that servers try to load it again; does nothing for other
   * tablets.
   *
   * @param tablet its id, as {@link ClusterStatus#troubled} gives it
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such tablet
   */
  public void releaseTablet(String tablet) throws IOException {
    repairs.release(tablet);
  }

  /**
   * Treats a server as dead though it may live: takes its lock away, so that it ends, and has its
   * tablets served elsewhere once its lease is over. For a server that hangs, or that says it
   * serves what it does not.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if no server of that id has its lock,
   *     OUTCOME_UNKNOWN if it may still be treated so
   */
  public void evictServer(ServerId server) throws IOException {
    repairs.evict(server);
  }

  /**
   * Deletes METADATA's records of a table that the lock service does not have: what that table had
   * is given up. A table that is there is dropped by {@link #dropTable} instead.
   *
   * @param table its id, as a check of the cluster names it
   * @throws io.stele.model.SteleException REFUSED if the lock service has that table,
   *     OUTCOME_UNKNOWN if records may be left
   */
  public void forgetTable(TableId table) throws IOException {
    repairs.forget(table);
  }

  /**
   * Moves the tablet with {@code row} in it to another server; it is served there when this
   * returns. Reads and writes go on, but for a moment.
   *
   * @param to where to; empty: the master chooses
   * @return the server that serves it now: another than {@code to} if that failed meanwhile
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     the server, or any other, takes no tablets; OUTCOME_UNKNOWN if it may still move
   */
  public ServerId moveTablet(String table, Bytes row, Optional<ServerId> to) throws IOException {
    return tablets.move(table, row, to);
  }

  /**
   * What happened to the tablets of a table, the oldest first; each tablet keeps its last events.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name
   */
  public List<TabletEvent> events(String table) throws IOException {
    return connection.events().of(calls.stored(table).id()).stream().map(Admin::event).toList();
  }

  /** What happened to the tablets of all tables, the oldest first. */
  public List<TabletEvent> events() throws IOException {
    return connection.events().ofAll().stream().map(Admin::event).toList();
  }

  private static TabletEvent event(TabletEvents.Event event) {
    return new TabletEvent(
        event.time(), event.tablet().toString(), event.what(), event.epoch(), event.server());
  }

  /**
   * Splits the tablet with {@code row} in it there; {@code row} is the first of a tablet when this
   * returns. Does nothing if it is so already.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     the row cannot begin a tablet; OUTCOME_UNKNOWN if the tablet may still be split
   */
  public void splitTablet(String table, Bytes row) throws IOException {
    tablets.split(table, row);
  }

  /**
   * Merges the tablet that begins with {@code row} with the one before it; no tablet begins there
   * when this returns, and the merged one is served. Does nothing if none begins there. For a
   * moment neither is served.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     the two cannot be merged, as one of them is pinned by a job or cannot be loaded;
   *     OUTCOME_UNKNOWN if they may still be merged
   */
  public void mergeTablet(String table, Bytes row) throws IOException {
    tablets.merge(table, row);
  }

  /**
   * Has a server give all its tablets away and take none until {@link #undrainServer}, or until it
   * ends. Returns when it has begun; {@link #clusterStatus} shows how many it still has.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server
   */
  public void drainServer(ServerId server) throws IOException {
    DrainRequestProto request = DrainRequestProto.newBuilder().setStay(true).build();
    calls.call(server, one -> one.drain(null, request));
  }

  /**
   * Has a server take tablets again that was drained.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server
   */
  public void undrainServer(ServerId server) throws IOException {
    DrainRequestProto request = DrainRequestProto.newBuilder().setUndo(true).build();
    calls.call(server, one -> one.drain(null, request));
  }

  /**
   * Has a server give all its tablets away and end, and waits until as many servers take tablets as
   * before and all tablets are served. Another process must be started in its place by whoever
   * looks after the servers. Requests of clients go on, but for a moment for each tablet.
   *
   * @param timeout how long to wait at most
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server; OUTCOME_UNKNOWN if
   *     it was not done in time: it goes on
   */
  public void restartServer(ServerId server, Duration timeout) throws IOException {
    restarts.restart(server, timeout);
  }

  /** Turns the balancing of tablets on or off; that outlives masters. */
  public void setBalanced(boolean on) throws IOException {
    BalanceRequestProto request = BalanceRequestProto.newBuilder().setOn(on).build();
    calls.ask(
        Effect.CHANGE_WITH_ID,
        "turning balancing " + (on ? "on" : "off"),
        master -> master.balance(null, request));
  }

  /** Whether tablets are balanced. */
  public boolean isBalanced() throws IOException {
    return calls
        .ask(
            Effect.READ,
            "asking whether tablets are balanced",
            master -> master.balance(null, BalanceRequestProto.getDefaultInstance()))
        .getOn();
  }

  /** Has the master even out all there is, also where balancing is off; returns when it has. */
  public void balanceNow() throws IOException {
    AtomicBoolean begun = new AtomicBoolean();
    calls.untilDone(
        "balancing tablets",
        "`stele server list` shows what servers have",
        master -> {
          BalanceResponseProto answer =
              master.balance(null, BalanceRequestProto.newBuilder().setNow(!begun.get()).build());
          begun.set(true);
          return new ClusterCalls.Progress(
              !answer.getNowUnderWay(), answer.getMoving() + " tablets are on their way");
        });
  }
}
