package io.stele.client;

import io.stele.config.Keys;
import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Attempts.Purpose;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableCodec;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableRules;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Makes, changes and describes tables, through the master.
 *
 * <p>Every call throws {@link io.stele.model.SteleException} RETRY_LATER where no master is active
 * within {@code stele.client.timeout}, and {@link IOException} where the thread was interrupted or
 * the lock service cannot be reached.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Admin {
  private static final Duration COMPACTION_MAX = Duration.ofHours(6);

  private final Connection connection;

  Admin(Connection connection) {
    this.connection = connection;
  }

  /**
   * Creates a table of one tablet; it can be used when this returns.
   *
   * @throws io.stele.model.SteleException REFUSED where there is one of that name
   */
  public void createTable(TableSchema schema) throws IOException {
    createTable(schema, List.of());
  }

  /**
   * Creates a table cut into tablets at the given rows; it can be used when this returns.
   *
   * @param splitRows each is the first row of a further tablet; in any order
   * @throws io.stele.model.SteleException REFUSED where there is one of that name, or where {@link
   *     TableRules} do not allow it
   */
  public void createTable(TableSchema schema, List<Bytes> splitRows) throws IOException {
    List<Bytes> ascending = splitRows.stream().sorted().distinct().toList();
    TableRules.checkNew(schema, ascending);
    CreateTableRequestProto.Builder request =
        CreateTableRequestProto.newBuilder().setSchema(message(schema));
    ascending.forEach(row -> request.addSplitRows(ByteString.copyFrom(row.asByteBuffer())));
    change("creating table " + schema.name(), m -> m.createTable(null, request.build()));
  }

  /**
   * Gives the table of that name another schema, whatever it has now. What a family that is no
   * longer in it held is gone.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where there is none of that name
   */
  public void alterTable(TableSchema schema) throws IOException {
    TableRules.checkNotReserved(schema.name());
    alter(AlterTableRequestProto.newBuilder().setSchema(message(schema)).build(), schema.name());
  }

  /**
   * Gives a table another schema, made from the one it had when it was described.
   *
   * @param before as {@link #describeTable} gave it
   * @throws io.stele.model.SteleException NOT_FOUND where there is none of that name, REFUSED where
   *     somebody else has altered it meanwhile: nothing was changed
   */
  public void alterTable(TableSchema before, TableSchema after) throws IOException {
    TableRules.checkChange(before, after, Set.of());
    alter(
        AlterTableRequestProto.newBuilder()
            .setSchema(message(after))
            .setBefore(message(before))
            .build(),
        after.name());
  }

  private void alter(AlterTableRequestProto request, String name) throws IOException {
    change("altering table " + name, master -> master.alterTable(null, request));
  }

  /**
   * Has every tablet server write the table's memtables, and then all its SSTables again, without
   * garbage and as the schema's locality groups want them now. Returns when that is done, which may
   * take long; a tablet that moves meanwhile may be left out.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where there is no table of that name
   * @throws IOException where a server could not, or was lost: nothing is lost by trying again
   */
  public void compactTable(String name) throws IOException {
    CompactTableRequestProto request =
        CompactTableRequestProto.newBuilder()
            .setTableId(connection.schemas().require(name).id().value())
            .build();
    for (ServerInfo server : ServerInfo.all(connection.locks()).values()) {
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
   * Drops a table and all it holds.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where there is none of that name
   */
  public void dropTable(String name) throws IOException {
    TableRules.checkNotReserved(name);
    DropTableRequestProto request = DropTableRequestProto.newBuilder().setName(name).build();
    change("dropping table " + name, master -> master.dropTable(null, request));
  }

  /**
   * The schema of a table, read from the lock service: no master is needed.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where there is none of that name
   */
  public TableSchema describeTable(String name) throws IOException {
    return connection.schemas().require(name).schema();
  }

  /** The schemas of all tables, by name. */
  public List<TableSchema> listTables() throws IOException {
    return connection.schemas().list().tables().stream()
        .filter(table -> table.state() == StoredTable.State.READY)
        .map(StoredTable::schema)
        .sorted(Comparator.comparing(TableSchema::name))
        .toList();
  }

  /** The cluster as its master sees it. */
  public ClusterStatus clusterStatus() throws IOException {
    ClusterStatusResponseProto status =
        ask(
            Effect.READ,
            "asking for the cluster's state",
            master -> master.clusterStatus(null, EmptyProto.getDefaultInstance()));
    return new ClusterStatus(
        status.getMaster(),
        status.getServersList().stream().map(Admin::server).toList(),
        status.getTables(),
        status.getTablets(),
        status.getUnassigned());
  }

  private static ClusterStatus.Server server(ServerStatusProto server) {
    return new ClusterStatus.Server(
        ServerId.parse(server.getServerId()),
        Optional.of(server.getWebAddress()).filter(address -> !address.isEmpty()),
        server.getTablets(),
        server.getMemtableBytes(),
        server.getSstableBytes());
  }

  private static ByteString message(TableSchema schema) {
    return ByteString.copyFrom(TableCodec.encode(schema).asByteBuffer());
  }

  private void change(String what, ControlPlane.Call<MasterProtocol, ?> call) throws IOException {
    ask(Effect.CHANGE, what, call);
  }

  /** Makes a call to the active master, waiting for one where there is none. */
  private <R> R ask(Effect effect, String what, ControlPlane.Call<MasterProtocol, R> call)
      throws IOException {
    Attempts attempts =
        new Attempts(
            connection.runtime(),
            Purpose.of(effect, () -> what).limitedBy(Keys.CLIENT_TIMEOUT.name()),
            Deadline.after(connection.runtime(), connection.timeout()));
    while (true) {
      Decision decision;
      Optional<Address> master = MasterInfo.address(connection.locks());
      if (master.isEmpty()) {
        decision = attempts.notSent(SteleException.retryLater("no master is active"));
      } else {
        try {
          return connection
              .controlPlane()
              .call(master.get(), MasterProtocol.class, attempts.deadline().remaining(), call);
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

  private void pause(Duration pause) throws InterruptedIOException {
    try {
      connection.runtime().sleep(pause);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for a master");
    }
  }
}
