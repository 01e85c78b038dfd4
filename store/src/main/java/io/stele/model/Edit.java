package io.stele.model;

import java.io.Serializable;

/** One change within a {@link Mutation}. */
public sealed interface Edit extends Serializable {
  /** Means "now": the tablet server fills in its time, which never goes back within a tablet. */
  long SERVER_TIMESTAMP = -1;

  /** The kinds of edit. */
  enum Kind {
    PUT,
    DELETE_CELL,
    DELETE_COLUMN,
    DELETE_FAMILY,
    DELETE_ROW
  }

  /** Which kind of edit this is: a switch over it names them all. */
  Kind kind();

  /** Puts a value into a column at a timestamp. */
  record Put(String family, Bytes qualifier, long timestampMicros, Bytes value) implements Edit {
    public Put {
      if (timestampMicros != SERVER_TIMESTAMP) {
        Limits.checkTimestamp(timestampMicros);
      }
    }

    @Override
    public Kind kind() {
      return Kind.PUT;
    }
  }

  /** Deletes the one version with this timestamp. */
  record DeleteCell(String family, Bytes qualifier, long timestampMicros) implements Edit {
    public DeleteCell {
      Limits.checkTimestamp(timestampMicros);
    }

    @Override
    public Kind kind() {
      return Kind.DELETE_CELL;
    }
  }

  /** Deletes every version of a column within a time range. */
  record DeleteColumn(String family, Bytes qualifier, TimeRange range) implements Edit {
    @Override
    public Kind kind() {
      return Kind.DELETE_COLUMN;
    }
  }

  /** Deletes everything the row has in a family. */
  record DeleteFamily(String family) implements Edit {
    @Override
    public Kind kind() {
      return Kind.DELETE_FAMILY;
    }
  }

  /** Deletes the whole row. */
  record DeleteRow() implements Edit {
    @Override
    public Kind kind() {
      return Kind.DELETE_ROW;
    }
  }
}
