package io.stele.client;

import io.stele.config.Keys;
import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Attempts.Purpose;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableCodec;
import io.stele.metadata.TabletEvents;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableRules;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletRefs;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.BalanceRequestProto;
import io.stele.wire.control.ControlProtos.BalanceResponseProto;
import io.stele.wire.control.ControlProtos.ChangeIdProto;
import io.stele.wire.control.ControlProtos.ClearRowsRequestProto;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.ForgetTableRequestProto;
import io.stele.wire.control.ControlProtos.MergeTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletResponseProto;
import io.stele.wire.control.ControlProtos.RecoveryProto;
import io.stele.wire.control.ControlProtos.ReleaseTabletRequestProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.SplitTabletRequestProto;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

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
  private static final Duration LOOK_FIRST = Duration.ofMillis(10);
  private static final int LOOKS_LONGER = 5;
  private static final Duration SPLIT_LOOK = Duration.ofMillis(50);
  private static final String TO_FIND_OUT =
      "`stele status` shows the changes under way, `stele table describe` what a table is now";

  private final Connection connection;

  Admin(Connection connection) {
    this.connection = connection;
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
    List<Bytes> ascending = splitRows.stream().sorted().distinct().toList();
    TableRules.checkNew(schema, ascending);
    CreateTableRequestProto.Builder request =
        CreateTableRequestProto.newBuilder()
            .setSchema(message(schema))
            .setChange(newChange(schema.name()));
    ascending.forEach(row -> request.addSplitRows(ByteString.copyFrom(row.asByteBuffer())));
    change(
        "creating table " + schema.name(),
        TO_FIND_OUT,
        master -> master.createTable(null, request.build()));
  }

  /**
   * Gives the table of that name another schema, whatever it has now. What a family that is no
   * longer in it held is gone.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name
   */
  public void alterTable(TableSchema schema) throws IOException {
    TableRules.checkNotReserved(schema.name());
    alter(AlterTableRequestProto.newBuilder().setSchema(message(schema)), schema.name());
  }

  /**
   * Gives a table another schema, made from the one it had when it was described.
   *
   * @param before as {@link #describeTable} gave it
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name, REFUSED if
   *     somebody else has altered it since: nothing was changed
   */
  public void alterTable(TableSchema before, TableSchema after) throws IOException {
    TableRules.checkChange(before, after, Set.of());
    alter(
        AlterTableRequestProto.newBuilder().setSchema(message(after)).setBefore(message(before)),
        after.name());
  }

  private void alter(AlterTableRequestProto.Builder change, String name) throws IOException {
    AlterTableRequestProto request = change.setChange(newChange(name)).build();
    change("altering table " + name, TO_FIND_OUT, master -> master.alterTable(null, request));
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
        CompactTableRequestProto.newBuilder().setTableId(stored(name).id().value()).build();
    Map<ServerId, ServerInfo> servers =
        connection.readLocks("looking for servers", () -> ServerInfo.all(connection.locks()));
    for (ServerInfo server : servers.values()) {
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
    TableRules.checkNotReserved(name);
    DropTableRequestProto request =
        DropTableRequestProto.newBuilder().setName(name).setChange(newChange(name)).build();
    change("dropping table " + name, TO_FIND_OUT, master -> master.dropTable(null, request));
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
    TableRules.checkNotReserved(name);
    ClearRowsRequestProto request =
        ClearRowsRequestProto.newBuilder()
            .setName(name)
            .setStartRow(ByteStrings.of(rows.start()))
            .setEndRow(ByteStrings.of(rows.end()))
            .setChange(newChange(name))
            .build();
    change(
        "deleting rows " + rows + " of table " + name,
        TO_FIND_OUT,
        master -> master.clearRows(null, request));
  }

  /**
   * The schema of a table, read from the lock service: no master is needed.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name
   */
  public TableSchema describeTable(String name) throws IOException {
    return stored(name).schema();
  }

  /**
   * The id of a table.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none of that name
   */
  TableId tableId(String name) throws IOException {
    return stored(name).id();
  }

  private StoredTable stored(String name) throws IOException {
    return connection.readLocks(
        "looking up table " + name, () -> connection.schemas().require(name));
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
    ClusterStatusResponseProto status =
        ask(
            attempts(Effect.READ, "reading the cluster's status"),
            master -> master.clusterStatus(null, EmptyProto.getDefaultInstance()));
    return new ClusterStatus(
        status.getMaster(),
        status.getServersList().stream().map(Admin::server).toList(),
        status.getTables(),
        status.getTablets(),
        status.getUnassigned(),
        status.getTroubledList().stream()
            .map(
                tablet ->
                    new ClusterStatus.Troubled(
                        tablet.getTablet(),
                        tablet.getServed(),
                        tablet.getQuarantined(),
                        tablet.getReason()))
            .toList(),
        status.getChangesList().stream()
            .map(
                change ->
                    new ClusterStatus.Change(
                        change.getTable(),
                        change.getParticiple(),
                        Instant.ofEpochMilli(change.getBegunMillis()),
                        change.getWaitsFor()))
            .toList(),
        status.getRecoveriesList().stream().map(Admin::recovery).toList());
  }

  private static ClusterStatus.Recovery recovery(RecoveryProto recovery) {
    return new ClusterStatus.Recovery(
        recovery.getServer(),
        Instant.ofEpochMilli(recovery.getLostMillis()),
        recovery.getTablets(),
        recovery.getStagesList().stream()
            .map(
                stage ->
                    new ClusterStatus.Recovery.Stage(
                        stage.getWhat(), Duration.ofMillis(stage.getMillis())))
            .toList(),
        recovery.hasFirstMillis()
            ? Optional.of(Duration.ofMillis(recovery.getFirstMillis()))
            : Optional.empty(),
        recovery.getOver());
  }

  /**
   * Releases a tablet from quarantine, so that servers try to load it again; does nothing for other
   * tablets.
   *
   * @param tablet its id, as {@link ClusterStatus#troubled} gives it
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such tablet
   */
  public void releaseTablet(String tablet) throws IOException {
    ReleaseTabletRequestProto request =
        ReleaseTabletRequestProto.newBuilder().setTablet(tablet).build();
    untilDone(
        "releasing tablet " + tablet,
        "the cluster's status shows whether it is still quarantined",
        master ->
            new Progress(
                master.releaseTablet(null, request).getDone(), "its record is being written"));
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
    if (clusterStatus().servers().stream().noneMatch(one -> one.id().equals(server))) {
      throw SteleException.notFound("there is no tablet server " + server);
    }
    ServerExitedRequestProto request =
        ServerExitedRequestProto.newBuilder().setServerId(server.toString()).setSeen(false).build();
    untilDone(
        "evicting server " + server,
        "the cluster's status shows whether it is there",
        master -> {
          master.serverExited(null, request);
          boolean live =
              master.clusterStatus(null, EmptyProto.getDefaultInstance()).getServersList().stream()
                  .anyMatch(one -> one.getServerId().equals(server.toString()));
          return new Progress(!live, "the master has not seen yet that its lock is gone");
        });
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
    ForgetTableRequestProto request =
        ForgetTableRequestProto.newBuilder().setTableId(table.value()).build();
    untilDone(
        "forgetting table " + table,
        "a check of the cluster shows whether records of it are left",
        master ->
            new Progress(
                master.forgetTable(null, request).getDone(),
                "its tablets are being unloaded, and their records deleted"));
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
    String what = "moving the tablet of table " + table + " with row \"" + row + "\"";
    TabletLocation at = connection.locateAgain(stored(table).id(), row, what);
    MoveTabletRequestProto.Builder request = MoveTabletRequestProto.newBuilder().setTablet(ref(at));
    to.ifPresent(server -> request.setServerId(server.toString()));
    AtomicReference<MoveTabletResponseProto> last =
        new AtomicReference<>(MoveTabletResponseProto.getDefaultInstance());
    untilDone(
        what,
        "`stele table describe` shows where it is",
        master -> {
          MoveTabletResponseProto answer = master.moveTablet(null, request.build());
          last.set(answer);
          return new Progress(answer.getDone(), answer.getWaitsFor());
        });
    return ServerId.parse(Objects.requireNonNull(last.get()).getServerId());
  }

  /**
   * What happened to the tablets of a table, the oldest first; each tablet keeps its last events.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no table of that name
   */
  public List<TabletEvent> events(String table) throws IOException {
    return connection.events().of(stored(table).id()).stream().map(Admin::event).toList();
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
    String what = "splitting table " + table + " at row \"" + row + "\"";
    TableId id = stored(table).id();
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    while (true) {
      TabletLocation at = connection.locateAgain(id, row, what);
      if (at.extent().start().equals(row)) {
        return;
      }
      SplitTabletRequestProto request =
          SplitTabletRequestProto.newBuilder()
              .setTablet(ref(at))
              .setRow(ByteStrings.of(row))
              .build();
      try {
        call(at.server(), server -> server.splitTablet(null, request));
      } catch (IOException | SteleException e) {
        if (!mayPass(e) || deadline.isOver()) {
          throw e;
        }
      }
      if (deadline.isOver()) {
        throw new SteleException(
            SteleException.Code.OUTCOME_UNKNOWN,
            what + ": not done within " + connection.timeout().toMillis() + " ms; it may still be");
      }
      pause(SPLIT_LOOK);
    }
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
    String what = "merging table " + table + " at row \"" + row + "\"";
    if (row.isEmpty()) {
      throw SteleException.refused(what + ": before the first tablet there is none");
    }
    TableId id = stored(table).id();
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    while (true) {
      TabletLocation at = connection.locateAgain(id, row, what);
      if (!at.extent().start().equals(row)) {
        return;
      }
      MergeTabletRequestProto request =
          MergeTabletRequestProto.newBuilder().setTablet(ref(at)).build();
      String waitsFor =
          ask(Effect.CHANGE_WITH_ID, what, master -> master.mergeTablet(null, request))
              .getWaitsFor();
      if (deadline.isOver()) {
        throw new SteleException(
            SteleException.Code.OUTCOME_UNKNOWN,
            what
                + ": not done within "
                + connection.timeout().toMillis()
                + " ms; it may still be: "
                + waitsFor);
      }
      pause(SPLIT_LOOK);
    }
  }

  /** Whether a tablet that is located again may answer where one failed so. */
  static boolean mayPass(Exception failure) {
    return failure instanceof SteleException known
        ? known.code() == SteleException.Code.RETRY_LATER
            || known.code() == SteleException.Code.NOT_FOUND // The server ended meanwhile.
        : !Attempts.isInterruption(failure);
  }

  /** The tablet as it was located. */
  static TabletRefProto ref(TabletLocation at) {
    Bytes row = MetadataKeys.row(at.tablet().table(), at.extent().end());
    return TabletRefs.of(at.tablet(), row, at.epoch());
  }

  /**
   * Has a server give all its tablets away and take none until {@link #undrainServer}, or until it
   * ends. Returns when it has begun; {@link #clusterStatus} shows how many it still has.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server
   */
  public void drainServer(ServerId server) throws IOException {
    DrainRequestProto request = DrainRequestProto.newBuilder().setStay(true).build();
    call(server, one -> one.drain(null, request));
  }

  /**
   * Has a server take tablets again that was drained.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server
   */
  public void undrainServer(ServerId server) throws IOException {
    DrainRequestProto request = DrainRequestProto.newBuilder().setUndo(true).build();
    call(server, one -> one.drain(null, request));
  }

  /** Turns the balancing of tablets on or off; that outlives masters. */
  public void setBalanced(boolean on) throws IOException {
    BalanceRequestProto request = BalanceRequestProto.newBuilder().setOn(on).build();
    ask(
        attempts(Effect.CHANGE_WITH_ID, "turning balancing " + (on ? "on" : "off")),
        master -> master.balance(null, request));
  }

  /** Whether tablets are balanced. */
  public boolean isBalanced() throws IOException {
    return ask(
            attempts(Effect.READ, "asking whether tablets are balanced"),
            master -> master.balance(null, BalanceRequestProto.getDefaultInstance()))
        .getOn();
  }

  /** Has the master even out all there is, also where balancing is off; returns when it has. */
  public void balanceNow() throws IOException {
    AtomicBoolean begun = new AtomicBoolean();
    untilDone(
        "balancing tablets",
        "`stele server list` shows what servers have",
        master -> {
          BalanceResponseProto answer =
              master.balance(null, BalanceRequestProto.newBuilder().setNow(!begun.get()).build());
          begun.set(true);
          return new Progress(
              !answer.getNowUnderWay(), answer.getMoving() + " tablets are on their way");
        });
  }

  /** The tablet servers there are. */
  static Map<ServerId, ServerInfo> servers(Connection connection) throws IOException {
    return connection.readLocks("looking for servers", () -> ServerInfo.all(connection.locks()));
  }

  /**
   * Calls a tablet server once.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server
   */
  <R> R call(ServerId server, ControlPlane.Call<TabletServerProtocol, R> call) throws IOException {
    ServerInfo info = servers(connection).get(server);
    if (info == null) {
      throw SteleException.notFound(
          "there is no server " + server + "; `stele server list` shows those that run");
    }
    return connection
        .controlPlane()
        .call(info.control(), TabletServerProtocol.class, connection.timeout(), call);
  }

  private static ClusterStatus.Server server(ServerStatusProto server) {
    return new ClusterStatus.Server(
        ServerId.parse(server.getServerId()),
        Optional.of(server.getWebAddress()).filter(address -> !address.isEmpty()),
        server.getTablets(),
        server.getMemtableBytes(),
        server.getSstableBytes(),
        server.getDraining());
  }

  private static ByteString message(TableSchema schema) {
    return ByteString.copyFrom(TableCodec.encode(schema).asByteBuffer());
  }

  /** Names a change of the table of that name as nothing else is named. */
  private ChangeIdProto newChange(String table) throws IOException {
    long seen =
        connection.readLocks(
            "looking up table " + table, () -> connection.schemas().names().read(table).sequence());
    HexFormat hex = HexFormat.of();
    RandomGenerator random = connection.runtime().random();
    return ChangeIdProto.newBuilder()
        .setId(hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong()))
        .setSeen(seen)
        .build();
  }

  /**
   * How far something is that the master does.
   *
   * @param waitsFor what it waits for, in words
   * @param failure why it cannot be done
   */
  private record Progress(boolean done, String waitsFor, Optional<SteleException> failure) {
    Progress(boolean done, String waitsFor) {
      this(done, waitsFor, Optional.empty());
    }
  }

  /** Asks for a change of a table, again and again until it is done; see {@link #untilDone}. */
  private void change(
      String what, String toFindOut, ControlPlane.Call<MasterProtocol, TableChangeProto> call)
      throws IOException {
    untilDone(
        what,
        toFindOut,
        master -> {
          TableChangeProto change = call.on(master);
          return new Progress(
              change.getDone(),
              change.getWaitsFor(),
              change.hasFailure() ? Optional.of(failure(what, change)) : Optional.empty());
        });
  }

  /**
   * Asks for something, again and again until it is done. Each request, made again, joins what it
   * began.
   *
   * @param toFindOut how people can tell what came of it
   */
  private void untilDone(
      String what, String toFindOut, ControlPlane.Call<MasterProtocol, Progress> call)
      throws IOException {
    Attempts attempts = attempts(Effect.CHANGE_WITH_ID, what);
    Optional<String> waitsFor = Optional.empty();
    int looks = 0;
    while (true) {
      Progress progress;
      try {
        progress = ask(attempts, call);
      } catch (SteleException e) {
        if (waitsFor.isEmpty() && e.code() != SteleException.Code.OUTCOME_UNKNOWN) {
          throw e;
        }
        throw SteleException.outcomeUnknown(
            e.getMessage() + ". The change was begun and may still complete: " + toFindOut, e);
      }
      if (progress.failure().isPresent()) {
        throw progress.failure().get();
      }
      if (progress.done()) {
        return;
      }
      waitsFor = Optional.of(progress.waitsFor());
      if (attempts.deadline().isOver()) {
        throw new SteleException(
            SteleException.Code.OUTCOME_UNKNOWN,
            what
                + ": not done within "
                + connection.timeout().toMillis()
                + " ms ("
                + Keys.CLIENT_TIMEOUT.name()
                + "). The change was begun and the master carries it on: "
                + waitsFor.get()
                + ". "
                + toFindOut);
      }
      Duration pause = LOOK_FIRST.multipliedBy(1L << Math.min(looks++, LOOKS_LONGER));
      Duration left = attempts.deadline().remaining();
      pause(pause.compareTo(left) < 0 ? pause : left);
    }
  }

  private static SteleException failure(String what, TableChangeProto change) {
    SteleException.Code code;
    try {
      code = SteleException.Code.valueOf(change.getFailure());
    } catch (IllegalArgumentException e) {
      code = SteleException.Code.REFUSED; // A later version's.
    }
    return new SteleException(code, what + ": " + change.getWhy());
  }

  private Attempts attempts(Effect effect, String what) {
    return new Attempts(
        connection.runtime(),
        Purpose.of(effect, () -> what).limitedBy(Keys.CLIENT_TIMEOUT.name()),
        Deadline.after(connection.runtime(), connection.timeout()));
  }

  /** Calls the active master; waits for one to be elected if there is none. */
  <R> R ask(Effect effect, String what, ControlPlane.Call<MasterProtocol, R> call)
      throws IOException {
    return ask(attempts(effect, what), call);
  }

  private <R> R ask(Attempts attempts, ControlPlane.Call<MasterProtocol, R> call)
      throws IOException {
    while (true) {
      Decision decision;
      Optional<Address> master = Optional.empty();
      Throwable whyNone = SteleException.retryLater("no master is active");
      try {
        master = activeMaster(attempts.deadline());
      } catch (IOException | SteleException e) {
        if (Attempts.isInterruption(e)) {
          throw e;
        }
        whyNone = e;
      }
      if (master.isEmpty()) {
        decision = attempts.notSent(whyNone);
      } else {
        try {
          return connection
              .controlPlane()
              .call(master.get(), MasterProtocol.class, attempts.attemptTimeout(), call);
        } catch (IOException | SteleException e) {
          if (Attempts.isInterruption(e)) {
            throw e;
          }
          decision = attempts.sent(e);
        }
      }
      if (decision instanceof Decision.End end) {
        throw end.failure();
      }
      pause(((Decision.Again) decision).pause());
    }
  }

  private Optional<Address> activeMaster(Deadline deadline) throws IOException {
    return connection
        .lockReads()
        .read("looking for the master", deadline, () -> MasterInfo.address(connection.locks()));
  }

  /** Waits before something is asked again. */
  void pause(Duration pause) throws InterruptedIOException {
    try {
      connection.runtime().sleep(pause);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for a master");
    }
  }
}
