package io.stele.master;

import io.stele.metadata.EndedChange;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableCodec;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Limits;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.ChangeIdProto;
import io.stele.wire.control.ControlProtos.ClearRowsRequestProto;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.FindTableChangeRequestProto;
import io.stele.wire.control.ControlProtos.ForgetTableRequestProto;
import io.stele.wire.control.ControlProtos.ForgetTableResponseProto;
import io.stele.wire.control.ControlProtos.RunningChangeProto;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Requests to change tables, and to report the progress of changes, as messages. None waits for a
 * tablet server, and only {@link #forget} for METADATA.
 *
 * <p>Safe for use by any number of threads.
 */
final class ChangeRequests {
  private final TableAdmin tables;
  private final TableChanges changes;
  private final Schemas schemas;
  private final MasterLoop loop;

  ChangeRequests(TableAdmin tables, TableChanges changes, Schemas schemas, MasterLoop loop) {
    this.tables = tables;
    this.changes = changes;
    this.schemas = schemas;
    this.loop = loop;
  }

  TableChangeProto create(CreateTableRequestProto request) throws IOException {
    List<Bytes> splitRows = request.getSplitRowsList().stream().map(ByteStrings::bytes).toList();
    return whenServed(
        ask(
            request.getChange(),
            new ChangeRequest.Create(schema(ByteStrings.bytes(request.getSchema())), splitRows)));
  }

  /** A table was made. It may be gone again, and then nobody waits for it. */
  private TableChangeProto whenServed(TableChangeProto made) throws IOException {
    if (!made.getDone() || made.hasFailure()) {
      return made;
    }
    TableId table = new TableId(made.getTableId());
    MasterLoop.View now = loop.view();
    boolean isServed =
        now.isServed(table)
            || schemas
                .table(table)
                .filter(there -> there.state() == StoredTable.State.READY)
                .isEmpty();
    if (isServed) {
      return made;
    }
    ChangeProgress served =
        ChangeProgress.<TabletRecord>counted(
            KnownRecords.of(table, now.tablets()), record -> now.isServed(record));
    return made.toBuilder()
        .setDone(false)
        .setWaitsFor("some of its tablets are not loaded yet")
        .setTabletsDone(served.done())
        .setTablets(served.all())
        .build();
  }

  TableChangeProto alter(AlterTableRequestProto request) throws IOException {
    Optional<TableSchema> before =
        request.hasBefore()
            ? Optional.of(schema(ByteStrings.bytes(request.getBefore())))
            : Optional.empty();
    TableSchema schema = schema(ByteStrings.bytes(request.getSchema()));
    return ask(request.getChange(), new ChangeRequest.Alter(schema, before));
  }

  TableChangeProto drop(DropTableRequestProto request) throws IOException {
    return ask(request.getChange(), new ChangeRequest.Drop(request.getName()));
  }

  TableChangeProto clear(ClearRowsRequestProto request) throws IOException {
    RowRange rows = ByteStrings.range(request.getStartRow(), request.getEndRow());
    Limits.checkRange(rows);
    return ask(request.getChange(), new ChangeRequest.Clear(request.getName(), rows));
  }

  TableChangeProto find(FindTableChangeRequestProto request) throws IOException {
    TableChangeProto found = message(tables.find(request.getName(), request.getId()));
    return request.getWhenServed() ? whenServed(found) : found;
  }

  /** Gives up a table whose node was lost, and all of its data; done when nothing is left of it. */
  ForgetTableResponseProto forget(ForgetTableRequestProto request) throws IOException {
    TableId table = MasterRequests.parsed(request.getTableId(), TableId::new);
    if (table.isSystem() || schemas.table(table).isPresent()) {
      throw SteleException.refused(
          "table " + table + " is there: to delete it, drop it by its name");
    }
    return ForgetTableResponseProto.newBuilder()
        .setDone(loop.giveUp(table) && tables.freeName(table))
        .build();
  }

  /** Adds the number of tables and the changes in progress. */
  void addTo(ClusterStatusResponseProto.Builder status) throws IOException {
    status.setTables(schemas.ids().size());
    MasterLoop.View now = loop.view();
    changes.running().forEach(one -> status.addChanges(message(one, now)));
  }

  private RunningChangeProto message(TableChanges.Running one, MasterLoop.View now) {
    SchemaChange change = one.change();
    ChangeProgress progress = changes.progress(change, now);
    return RunningChangeProto.newBuilder()
        .setId(change.id())
        .setTable(one.name())
        .setParticiple(change.kind().participle())
        .setWaitsFor(change.step().waitsFor())
        .setBegunMillis(change.begunMillis())
        .setTabletsDone(progress.done())
        .setTablets(progress.all())
        .build();
  }

  private TableChangeProto ask(ChangeIdProto id, ChangeRequest.Wish wish) throws IOException {
    return message(tables.ask(new ChangeRequest(id.getId(), id.getSeen(), wish)));
  }

  private TableChangeProto message(TableAdmin.Answer answer) {
    if (answer instanceof TableAdmin.Answer.Running running) {
      ChangeProgress progress = changes.progress(running.change(), loop.view());
      return TableChangeProto.newBuilder()
          .setTableId(running.change().table().value())
          .setDone(false)
          .setWaitsFor(running.change().step().waitsFor())
          .setTabletsDone(progress.done())
          .setTablets(progress.all())
          .build();
    }
    EndedChange ended = ((TableAdmin.Answer.Ended) answer).change();
    TableChangeProto.Builder done =
        TableChangeProto.newBuilder()
            .setTableId(ended.table().map(TableId::value).orElse(""))
            .setDone(true);
    ended.failure().ifPresent(why -> done.setFailure(why.code().name()).setWhy(why.message()));
    return done.build();
  }

  private static TableSchema schema(Bytes bytes) {
    try {
      return TableCodec.decode(bytes);
    } catch (CorruptionException e) {
      throw new SteleException(SteleException.Code.REFUSED, String.valueOf(e.getMessage()), e);
    }
  }
}
