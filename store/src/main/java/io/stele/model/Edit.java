package io.stele.model;

/** One change within a {@link Mutation}. */
public sealed interface Edit {
  /** Stands for "now", which the tablet server fills in, never going back within a tablet. */
  long SERVER_TIMESTAMP = -1;

  /** A family, qualifier and timestamp get a value. */
  record Put(String family, Bytes qualifier, long timestampMicros, Bytes value) implements Edit {
    public Put {
      if (timestampMicros != SERVER_TIMESTAMP) {
        Limits.checkTimestamp(timestampMicros);
      }
    }
  }

  /** The one version with this timestamp goes. */
  record DeleteCell(String family, Bytes qualifier, long timestampMicros) implements Edit {
    public DeleteCell {
      Limits.checkTimestamp(timestampMicros);
    }
  }

  /** Every version of a column within a time range goes. */
  record DeleteColumn(String family, Bytes qualifier, TimeRange range) implements Edit {}

  /** Everything the row has in a family goes. */
  record DeleteFamily(String family) implements Edit {}

  /** The whole row goes. */
  record DeleteRow() implements Edit {}
}
