package io.stele.client;

import io.stele.lock.LockPaths;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletEvents;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableRules;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.wire.control.ControlProtos.BalanceRequestProto;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Creates, changes and describes tables, changes tablets and servers, and ends jobs, through the
 * master.
 *
 * <p>A call that waits until a change is made has an asynchronous form, {@code begin...}, which
 * returns when the change has begun: {@link TableChange} and {@link ClusterChange} then say how far
 * it is, and wait for it.
 *
 * <p>A call that needs the master throws {@link io.stele.model.SteleException} RETRY_LATER if none
 * is active within {@code stele.client.timeout}. Any call throws {@link IOException} if the thread
 * was interrupted or ZooKeeper cannot be reached.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Admin {
  /** As long as it takes. */
  private static final Duration UNLIMITED = Duration.ofDays(365);

  private final Connection connection;
  private final ClusterCalls calls;
  private final TableChangeRequests tableChanges;
  private final ClusterChangeRequests clusterChanges;
  private final ClusterRepairs repairs;
  private final ClusterJobs jobs;

  Admin(Connection connection) {
    this.connection = connection;
    this.calls = new ClusterCalls(connection);
    this.tableChanges = new TableChangeRequests(calls);
    this.clusterChanges = new ClusterChangeRequests(calls);
    this.repairs = new ClusterRepairs(calls);
    this.jobs = new ClusterJobs(connection, new Jobs(connection, this));
  }

  /** What makes its calls. */
  ClusterCalls calls() {
    return calls;
  }

  /**
   * Creates a table of one tablet. The table can be used when this returns. See {@link
   * #createTable(TableSchema, List)}.
   *
   * @throws io.stele.model.SteleException ALREADY_EXISTS if there is one of that name
   */
  public void createTable(TableSchema schema) throws IOException {
    createTable(schema, List.of());
  }

  /**
   * Creates a table cut into tablets at the given rows; it can be used when this returns.
   *
   * <p>If this takes longer than {@code stele.client.timeout}, the outcome is unknown, because the
   * master continues the change. While another change is made to a table of that name, this waits
   * for it.
   *
   * @param splitRows each is the first row of a further tablet; in any order
   * @throws io.stele.model.SteleException ALREADY_EXISTS if there is a table of that name; REFUSED
   *     if {@link TableRules} do not allow this one; OUTCOME_UNKNOWN if it may still be created
   */
  public void createTable(TableSchema schema, List<Bytes> splitRows) throws IOException {
    tableChanges.create(schema, splitRows).await();
  }

  /**
   * Begins what {@link #createTable(TableSchema, List)} does, and returns when the master has
   * recorded the change.
   */
  public TableChange beginCreateTable(TableSchema schema, List<Bytes> splitRows)
      throws IOException {
    return tableChanges.create(schema, splitRows).begun();
  }

  /**
   * Changes the schema of a table.
   *
   * <pre>{@code
   * admin.alterTable("webtable", schema -> schema.with(ColumnFamily.of("language")));
   * }</pre>
   *
   * @param change gives the new schema for the one that the table has. The data of families that
   *     are not in the new schema is deleted
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     somebody else has altered it meanwhile: nothing was changed
   */
  public void alterTable(String name, UnaryOperator<TableSchema> change) throws IOException {
    TableSchema before = describeTable(name);
    alterTable(before, change.apply(before));
  }

  /**
   * Gives a table another schema, on condition that it still has the schema {@code before}. The
   * data of families that are not in the new schema is deleted.
   *
   * @param before as {@link #describeTable} returned it
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name, REFUSED if
   *     somebody else has altered it since: nothing was changed
   */
  public void alterTable(TableSchema before, TableSchema after) throws IOException {
    tableChanges.alter(before, after).await();
  }

  /** Begins what {@link #alterTable(TableSchema, TableSchema)} does. */
  public TableChange beginAlterTable(TableSchema before, TableSchema after) throws IOException {
    return tableChanges.alter(before, after).begun();
  }

  /**
   * Makes the servers of a table write its memtables to SSTables, and then rewrite all its
   * SSTables, without garbage and as the schema's locality groups want them now. All servers do so
   * at the same time, each one tablet at a time. Returns when that is done for whatever was in the
   * table at the call, which may take long. A tablet that moves meanwhile, is split, or whose
   * server is lost, is compacted where it is then. Tables can be compacted at the same time; where
   * this one is being compacted already, what has not begun is done once for both.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, or it is
   *     dropped meanwhile; RETRY_LATER if tablets could not be compacted for {@code
   *     stele.client.timeout}, not counting the time during which they are being compacted or wait
   *     for their turn, and all others are; OUTCOME_UNKNOWN if the compactions may go on
   */
  public void compactTable(String name) throws IOException {
    clusterChanges.compact(name).await(UNLIMITED);
  }

  /**
   * Begins what {@link #compactTable} does, and returns when each server has begun. A server
   * continues by itself. Tablets that move, are split, or whose server is lost before they are
   * compacted are begun again only by {@link ClusterChange#progress} and {@link
   * ClusterChange#await}.
   */
  public ClusterChange beginCompactTable(String name) throws IOException {
    return clusterChanges.compact(name).begun();
  }

  /**
   * Drops a table and all its data; nothing is left of it when this returns. While another change
   * is made to the table, this waits for it.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name
   */
  public void dropTable(String name) throws IOException {
    tableChanges.drop(name).await();
  }

  /** Begins what {@link #dropTable} does. */
  public TableChange beginDropTable(String name) throws IOException {
    return tableChanges.drop(name).begun();
  }

  /**
   * Deletes all rows of a table. The cost depends on the number of tablets, not of rows. See {@link
   * #deleteRows}.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name;
   *     OUTCOME_UNKNOWN if rows may still be deleted
   */
  public void truncateTable(String name) throws IOException {
    tableChanges.clear(name, RowRange.ALL).await();
  }

  /** Begins what {@link #truncateTable} does. */
  public TableChange beginTruncateTable(String name) throws IOException {
    return tableChanges.clear(name, RowRange.ALL).begun();
  }

  /**
   * Deletes a range of rows of a table, whatever the timestamps of their cells. The cost depends on
   * the number of tablets with these rows, not on the number of rows. When this returns, everything
   * written before it began is gone, and what is written from then on stays. Meanwhile each tablet
   * deletes all its rows of the range at one moment, one tablet after the other. While another
   * change is made to the table, this waits for it.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     the range is empty, has all rows, or a bound that is longer than a row; OUTCOME_UNKNOWN if
   *     rows may still be deleted
   */
  public void deleteRows(String name, RowRange rows) throws IOException {
    clear(name, rows).await();
  }

  /** Begins what {@link #deleteRows} does. */
  public TableChange beginDeleteRows(String name, RowRange rows) throws IOException {
    return clear(name, rows).begun();
  }

  private TableChange clear(String name, RowRange rows) throws IOException {
    if (rows.equals(RowRange.ALL)) {
      throw SteleException.refused(
          "the range of rows to delete from table " + name + " is the whole table: truncate it");
    }
    Limits.checkRange(rows);
    return tableChanges.clear(name, rows);
  }

  /**
   * A table change begun by any process, even one that no longer exists.
   *
   * @param id as {@link TableChange#id} returns it
   * @throws io.stele.model.SteleException REFUSED if that is not the id of a change
   */
  public TableChange tableChange(String id) {
    return tableChanges.attach(id);
  }

  /**
   * The schema of a table, read from ZooKeeper: no master is needed.
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

  /**
   * Whether there is a table of that name that can be used. No master is needed.
   *
   * @throws io.stele.model.SteleException RETRY_LATER while it is being created, REFUSED if the
   *     name is empty, "." or "..", or has a slash
   */
  public boolean tableExists(String name) throws IOException {
    try {
      calls.stored(name);
      return true;
    } catch (SteleException e) {
      if (e.code() == SteleException.Code.NOT_FOUND) {
        return false;
      }
      throw e;
    }
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

  /**
   * Whether any process of the cluster runs: an active master, or a tablet server. Asks none of
   * them.
   *
   * @throws IOException if ZooKeeper cannot be asked
   */
  public boolean isRunning() throws IOException {
    return connection.readLocks(
        "looking for masters and tablet servers",
        () ->
            connection.locks().read(LockPaths.MASTER).isPresent()
                || !connection.locks().children(LockPaths.SERVERS).isEmpty());
  }

  /** The cluster as its master sees it. */
  public ClusterStatus clusterStatus() throws IOException {
    return StatusReader.read(calls);
  }

  /**
   * Releases a tablet from quarantine, so that servers try to load it again; does nothing for other
   * tablets.
   *
   * @param tablet its id, as in {@link ClusterStatus#troubled}
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such tablet
   */
  public void releaseTablet(String tablet) throws IOException {
    repairs.release(tablet);
  }

  /**
   * Treats a server as dead although it may be alive: takes away its lock, so that it ends, and has
   * its tablets served elsewhere once its lease is over. For a server that hangs, or that wrongly
   * reports tablets as served.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if no server of that id has its lock,
   *     OUTCOME_UNKNOWN if this may still happen
   */
  public void evictServer(ServerId server) throws IOException {
    repairs.evict(server, false);
  }

  /**
   * Like {@link #evictServer}, for a server that this process cannot reach: only if it has not
   * answered the master for some seconds either. A master of an earlier version does not know this
   * condition, and evicts it.
   *
   * @throws io.stele.model.SteleException also REFUSED if it has
   */
  public void evictSilentServer(ServerId server) throws IOException {
    repairs.evict(server, true);
  }

  /**
   * Deletes METADATA's records of a table that ZooKeeper does not have, and frees its name; the
   * data of that table is given up. To drop an existing table, use {@link #dropTable}.
   *
   * @param table its id, as a check of the cluster reports it
   * @throws io.stele.model.SteleException REFUSED if ZooKeeper has that table, OUTCOME_UNKNOWN if
   *     records may be left
   */
  public void forgetTable(TableId table) throws IOException {
    repairs.forget(table);
  }

  /**
   * Moves the tablet with {@code row} in it to another server; it is served there when this
   * returns. Reads and writes are interrupted only for a moment.
   *
   * @param to the server to move it to; empty: the master chooses
   * @return the server that serves it now: not {@code to} if that server failed meanwhile
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     the server, or any other, takes no tablets; OUTCOME_UNKNOWN if it may still move
   */
  public ServerId moveTablet(String table, Bytes row, Optional<ServerId> to) throws IOException {
    return clusterChanges.move(table, row, to).await().server().orElseThrow();
  }

  /**
   * Begins what {@link #moveTablet} does, and returns when the master knows of it. If the tablet is
   * split before it has moved and nobody waits for the move, it may stay where it is.
   */
  public ClusterChange beginMoveTablet(String table, Bytes row, Optional<ServerId> to)
      throws IOException {
    return clusterChanges.move(table, row, to).begun();
  }

  /**
   * What happened to the tablets of a table, the oldest first; each tablet keeps its last events.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name
   */
  public List<TabletEvent> events(String table) throws IOException {
    return connection.events().of(calls.stored(table).id()).stream().map(Admin::event).toList();
  }

  /**
   * What happened to one tablet, the oldest first: only the records of its table are read.
   *
   * @param tablet its id, as {@link TabletEvent#tablet} has it
   * @throws io.stele.model.SteleException REFUSED if that is not the id of a tablet
   */
  public List<TabletEvent> tabletEvents(String tablet) throws IOException {
    TabletId id;
    try {
      id = TabletId.parse(tablet);
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
    return connection.events().of(id).stream().map(Admin::event).toList();
  }

  /**
   * What happened to the tablets of all tables, and to those of METADATA, the oldest first. Reads
   * the whole of METADATA.
   */
  public List<TabletEvent> events() throws IOException {
    return connection.events().ofAll().stream().map(Admin::event).toList();
  }

  private static TabletEvent event(TabletEvents.Event event) {
    return new TabletEvent(
        event.time(), event.tablet().toString(), event.what(), event.epoch(), event.server());
  }

  /**
   * Splits the tablet that contains {@code row} at that row; when this returns, a tablet begins
   * with {@code row}. Does nothing if one does already.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     the row cannot begin a tablet; OUTCOME_UNKNOWN if the tablet may still be split
   */
  public void splitTablet(String table, Bytes row) throws IOException {
    clusterChanges.split(table, row).await();
  }

  /** Begins what {@link #splitTablet} does, and returns when the tablet's server knows of it. */
  public ClusterChange beginSplitTablet(String table, Bytes row) throws IOException {
    return clusterChanges.split(table, row).begun();
  }

  /**
   * Merges the tablet that begins with {@code row} with the one before it; when this returns, no
   * tablet begins there, and the merged tablet is served. Does nothing if no tablet begins there.
   * For a moment neither tablet is served.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name, REFUSED if
   *     the two cannot be merged, because one of them is pinned by a job or cannot be loaded;
   *     OUTCOME_UNKNOWN if they may still be merged
   */
  public void mergeTablet(String table, Bytes row) throws IOException {
    clusterChanges.merge(table, row).await();
  }

  /** Begins what {@link #mergeTablet} does, and returns when the master knows of it. */
  public ClusterChange beginMergeTablet(String table, Bytes row) throws IOException {
    return clusterChanges.merge(table, row).begun();
  }

  /**
   * Makes a server give all its tablets away and take none until {@link #undrainServer}, or until
   * it ends, and waits until it has none; if it ends, until others serve all tablets. It begins to
   * only while another server takes tablets.
   *
   * @param timeout how long to wait at most
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server; REFUSED if no other
   *     takes tablets; OUTCOME_UNKNOWN if it still has tablets by then: it goes on giving them away
   */
  public void drainServer(ServerId server, Duration timeout) throws IOException {
    clusterChanges.drain(server).await(timeout);
  }

  /** Begins what {@link #drainServer} does, and returns when the server knows of it. */
  public ClusterChange beginDrainServer(ServerId server) throws IOException {
    return clusterChanges.drain(server).begun();
  }

  /**
   * Lets a drained server take tablets again, and gives up a restart that failed when it was last
   * tried.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server; REFUSED while it is
   *     drained to end, or its ApplicationMaster asks for that again and again, and after it last
   *     did for as long as another attempt of it may need to ask again, an hour at most
   */
  public void undrainServer(ServerId server) throws IOException {
    DrainRequestProto request = DrainRequestProto.newBuilder().setUndo(true).build();
    calls.call(server, one -> one.drain(null, request));
  }

  /**
   * Makes a server give all its tablets away and end, and waits until as many servers take tablets
   * as before and all tablets are served. A server that is drained does not count before. The
   * ApplicationMaster or the service manager must start another process in its place. Requests of
   * clients are interrupted only for a moment for each tablet. A server that cannot give its
   * tablets away continues as before and tries again, while another server takes tablets, until it
   * has ended or {@link #undrainServer}.
   *
   * @param timeout how long to wait at most
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server; OUTCOME_UNKNOWN if
   *     it was not done in time: the restart continues
   */
  public void restartServer(ServerId server, Duration timeout) throws IOException {
    clusterChanges.restart(server).await(timeout);
  }

  /** Begins what {@link #restartServer} does, and returns when the server knows of it. */
  public ClusterChange beginRestartServer(ServerId server) throws IOException {
    return clusterChanges.restart(server).begun();
  }

  /** Turns the balancing of tablets on or off; the setting survives a change of masters. */
  public void setBalanced(boolean on) throws IOException {
    BalanceRequestProto request = BalanceRequestProto.newBuilder().setOn(on).build();
    calls.ask(
        Effect.CHANGE_WITH_ID,
        "turning balancing " + (on ? "on" : "off"),
        master -> master.balance(null, request));
  }

  /** Whether balancing is on: see {@link #setBalanced}. */
  public boolean isBalanced() throws IOException {
    return calls
        .ask(
            Effect.READ,
            "asking whether tablets are balanced",
            master -> master.balance(null, BalanceRequestProto.getDefaultInstance()))
        .getOn();
  }

  /**
   * Makes the master balance all tablets once, even if balancing is off; returns when it is done.
   * Each tablet moves once at most. If another master takes over meanwhile, it is asked again.
   *
   * @throws io.stele.model.SteleException OUTCOME_UNKNOWN if tablets may still move; REFUSED if
   *     balancing was turned off meanwhile: some tablets may have moved
   */
  public void balanceNow() throws IOException {
    clusterChanges.balance().await();
  }

  /** Begins what {@link #balanceNow} does, and returns when the master knows of it. */
  public ClusterChange beginBalanceNow() throws IOException {
    return clusterChanges.balance().begun();
  }

  /**
   * The jobs for which the cluster keeps something, by name; also jobs that have committed, until
   * the cluster forgets them ({@link ClusterJob.State#COMMITTED}). Read from ZooKeeper: no master
   * is needed. One that was begun just now may be missing.
   */
  public List<ClusterJob> listJobs() throws IOException {
    return jobs.list();
  }

  /**
   * Ends a job that has not committed and no longer runs. It never commits then: files that it has
   * written are deleted, though they wait in tablets already. Its pins are removed within seconds,
   * and jobs that are part of it end. What its tasks have applied with {@code TableOutputFormat}
   * stays.
   *
   * <p>If the job still runs after all, it fails: its tasks can no longer read at its pins, their
   * writes are refused, and its commit is too. A commit that is in progress is done before this or
   * not at all.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such job; REFUSED if it has
   *     committed, which cannot be undone: nothing was changed
   * @throws IOException also if its node cannot be read: it may have committed
   */
  public void endJob(String name) throws IOException {
    jobs.end(name);
  }
}
