package io.stele.master;

import io.stele.metadata.SchemaChange.Kind;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableRules;
import io.stele.model.TableSchema;
import java.util.List;
import java.util.Optional;

/**
 * A client's request for a change of schema.
 *
 * @param id names the change; a repeated request with it is about the same change
 * @param seen the number of the last change under the table's name when the client made the id
 * @param wish the change to make
 */
record ChangeRequest(String id, long seen, Wish wish) {
  /** A change of one table. */
  sealed interface Wish {
    /** The name of the table. */
    String name();

    /** The kind of change. */
    Kind kind();

    /**
     * Refuses changes that can never be made.
     *
     * @throws io.stele.model.SteleException REFUSED
     */
    void check();
  }

  /** Create a table, split at some rows. */
  record Create(TableSchema schema, List<Bytes> splitRows) implements Wish {
    Create {
      splitRows = List.copyOf(splitRows);
    }

    @Override
    public String name() {
      return schema.name();
    }

    @Override
    public Kind kind() {
      return Kind.CREATE;
    }

    @Override
    public void check() {
      TableRules.checkNew(schema, splitRows);
    }
  }

  /** Give a table another schema; if {@code before} is given, only if the table has that schema. */
  record Alter(TableSchema schema, Optional<TableSchema> before) implements Wish {
    @Override
    public String name() {
      return schema.name();
    }

    @Override
    public Kind kind() {
      return Kind.ALTER;
    }

    @Override
    public void check() {
      TableRules.checkNotReserved(name());
    }
  }

  /** Delete all cells in some rows of a table. */
  record Clear(String name, RowRange rows) implements Wish {
    @Override
    public Kind kind() {
      return Kind.CLEAR;
    }

    @Override
    public void check() {
      TableRules.checkNotReserved(name);
      if (rows.isEmpty()) {
        throw SteleException.refused("there is no row in the range " + rows);
      }
    }
  }

  /** Drop a table. */
  record Drop(String name) implements Wish {
    @Override
    public Kind kind() {
      return Kind.DROP;
    }

    @Override
    public void check() {
      TableRules.checkNotReserved(name);
    }
  }
}
