package io.stele.client;

import io.stele.metadata.TableCodec;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableRules;
import io.stele.model.TableSchema;
import io.stele.wire.ByteStrings;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.ChangeIdProto;
import io.stele.wire.control.ControlProtos.ClearRowsRequestProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.FindTableChangeRequestProto;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Makes the requests for changes of tables, each under an id of its own.
 *
 * <p>Safe for use by any number of threads.
 */
final class TableChangeRequests {
  /** How the ids of creations begin: such a change is done when the table is served. */
  private static final String CREATION = "create-";

  private final ClusterCalls calls;

  TableChangeRequests(ClusterCalls calls) {
    this.calls = calls;
  }

  /** See {@link Admin#createTable(TableSchema, List)}. */
  TableChange create(TableSchema schema, List<Bytes> splitRows) throws IOException {
    List<Bytes> ascending = splitRows.stream().sorted().distinct().toList();
    TableRules.checkNew(schema, ascending);
    ChangeIdProto id = newId(schema.name(), CREATION);
    CreateTableRequestProto.Builder request =
        CreateTableRequestProto.newBuilder().setSchema(message(schema)).setChange(id);
    ascending.forEach(row -> request.addSplitRows(ByteString.copyFrom(row.asByteBuffer())));
    CreateTableRequestProto whole = request.build();
    return change(
        schema.name(), id, "creating table " + schema.name(), m -> m.createTable(null, whole));
  }

  /** See {@link Admin#alterTable(TableSchema, TableSchema)}. */
  TableChange alter(TableSchema before, TableSchema after) throws IOException {
    TableRules.checkChange(before, after);
    ChangeIdProto id = newId(after.name(), "alter-");
    AlterTableRequestProto request =
        AlterTableRequestProto.newBuilder()
            .setSchema(message(after))
            .setBefore(message(before))
            .setChange(id)
            .build();
    return change(
        after.name(), id, "altering table " + after.name(), m -> m.alterTable(null, request));
  }

  /** See {@link Admin#dropTable}. */
  TableChange drop(String name) throws IOException {
    TableRules.checkNotReserved(name);
    ChangeIdProto id = newId(name, "drop-");
    DropTableRequestProto request =
        DropTableRequestProto.newBuilder().setName(name).setChange(id).build();
    return change(name, id, "dropping table " + name, m -> m.dropTable(null, request));
  }

  /** See {@link Admin#deleteRows}. */
  TableChange clear(String name, RowRange rows) throws IOException {
    TableRules.checkNotReserved(name);
    ChangeIdProto id = newId(name, "clear-");
    ClearRowsRequestProto request =
        ClearRowsRequestProto.newBuilder()
            .setName(name)
            .setStartRow(ByteStrings.of(rows.start()))
            .setEndRow(ByteStrings.of(rows.end()))
            .setChange(id)
            .build();
    return change(
        name, id, "deleting rows " + rows + " of table " + name, m -> m.clearRows(null, request));
  }

  /** See {@link Admin#tableChange}. */
  TableChange attach(String id) {
    String[] parts =
        TableChange.parts(id)
            .orElseThrow(
                () ->
                    SteleException.refused(
                        "\""
                            + id
                            + "\" is not the id of a change, such as webtable/drop-00112233445566778899aabbccddeeff:"
                            + " `stele table changes` shows those in progress"));
    FindTableChangeRequestProto request =
        FindTableChangeRequestProto.newBuilder()
            .setName(parts[0])
            .setId(parts[1])
            .setWhenServed(parts[1].startsWith(CREATION))
            .build();
    return new TableChange(
        calls, parts[0], parts[1], "change " + id, m -> m.findTableChange(null, request));
  }

  private TableChange change(
      String table,
      ChangeIdProto id,
      String what,
      ControlPlane.Call<MasterProtocol, TableChangeProto> ask) {
    return new TableChange(calls, table, id.getId(), what, ask);
  }

  private static ByteString message(TableSchema schema) {
    return ByteString.copyFrom(TableCodec.encode(schema).asByteBuffer());
  }

  /** Names a change of the table of that name as nothing else is named. */
  private ChangeIdProto newId(String table, String kind) throws IOException {
    Connection connection = calls.connection();
    long seen =
        connection.readLocks(
            "looking up table " + table, () -> connection.schemas().names().sequence(table));
    HexFormat hex = HexFormat.of();
    RandomGenerator random = connection.runtime().random();
    return ChangeIdProto.newBuilder()
        .setId(kind + hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong()))
        .setSeen(seen)
        .build();
  }
}
