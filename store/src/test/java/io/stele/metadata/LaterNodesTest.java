package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.NewerFormatException;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Nodes of a later version are read as far as they are understood, and never changed. */
class LaterNodesTest {
  private static final TableId TABLE = new TableId("t1");

  private final LockService locks = new MemoryLockStore().connect(Runnable::run);
  private final Schemas schemas = new Schemas(SystemRuntime.INSTANCE, locks);
  private final TableNames names = schemas.names();

  private Bytes data(String path) throws IOException {
    return locks.read(path).orElseThrow().data();
  }

  private void write(String path, Bytes data) throws IOException {
    assertThat(locks.write(path, data, locks.read(path).orElseThrow().version())).isPresent();
  }

  private static void assertRefused(ThrowingCallable change) {
    assertThatThrownBy(change)
        .isInstanceOf(NewerFormatException.class)
        .hasMessageContaining("requires " + LaterNodes.FEATURE)
        .hasMessageContaining("upgrade");
  }

  private void users() throws IOException {
    schemas.create(TABLE, TableSchema.of("users", "f"), List.of());
    schemas.advance(schemas.table(TABLE).orElseThrow(), StoredTable.State.READY);
    SchemaChange running =
        new SchemaChange(
            "one",
            7,
            SchemaChange.Step.MAKE_READY,
            TABLE,
            Optional.empty(),
            List.of(),
            0,
            RowRange.ALL);
    TableName before = names.read("users");
    assertThat(names.write(before, before.of(Optional.of(TABLE)).with(running))).isTrue();
  }

  @Test
  void aTableThatRequiresWhatThisVersionDoesNotKnowIsServedAndNotChanged() throws IOException {
    users();
    String path = LockPaths.table(TABLE);
    write(path, LaterNodes.tableRequiringMore(data(path)));
    Bytes later = data(path);
    StoredTable table = schemas.require("users");
    assertThat(table.schema()).isEqualTo(TableSchema.of("users", "f"));
    assertThat(schemas.list().tables()).containsExactly(table);
    assertRefused(() -> schemas.alter(table, TableSchema.of("users", "f", "g")));
    assertRefused(() -> schemas.advance(table, StoredTable.State.DROPPING));
    assertRefused(() -> schemas.delete(table));
    assertThat(data(path)).isEqualTo(later);
  }

  @Test
  void aNameThatRequiresWhatThisVersionDoesNotKnowIsLookedUpAndNotChanged() throws IOException {
    users();
    String path = LockPaths.tableName("users");
    write(path, LaterNodes.nameRequiringMore(data(path)));
    Bytes later = data(path);
    assertThat(schemas.require("users").id()).isEqualTo(TABLE);
    assertThat(names.isRunning("users", 7)).isTrue();
    assertThat(names.isRunning("users", 8)).isFalse();
    assertThat(names.sequence("users")).isEqualTo(7);
    assertRefused(() -> names.read("users"));
    assertRefused(() -> names.find("users"));
    assertRefused(() -> names.skip("users", later, 10));
  }

  @Test
  void aTableInAStateThatThisVersionDoesNotKnowHidesNoOther() throws IOException {
    users();
    Bytes own = data(LockPaths.table(TABLE));
    locks.create(LockPaths.table(new TableId("t2")), LaterNodes.tableInLaterState(own));
    locks.create(LockPaths.table(new TableId("t3")), Bytes.of("rubbish"));
    locks.create(LockPaths.tableName("user"), LaterNodes.nameInLaterFormat());
    locks.create(LockPaths.TABLES + "/by-owner", Bytes.of("alice t1"));
    Schemas.Listing listing = schemas.list();
    assertThat(listing.tables()).extracting(StoredTable::id).containsExactly(TABLE);
    assertThat(listing.newer()).containsExactly("by-owner", "t2");
    assertThat(listing.damaged()).containsExactly("t3");
    assertThat(listing.unread()).containsExactly("t3", "by-owner", "t2");
    assertThat(schemas.missing("userz")).contains("did you mean");
  }
}
