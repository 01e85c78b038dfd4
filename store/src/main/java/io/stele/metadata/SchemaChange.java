package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.util.List;
import java.util.Optional;

/**
 * A change of schema under way: everything that a master needs to continue it.
 *
 * @param id the client's, the same each time it asks
 * @param sequence its number among the changes under its table's name
 * @param step the first that may not have been taken; each can be repeated
 * @param table which table
 * @param wanted the schema, until it is in the table's node; empty then, and for a drop
 * @param splitRows where a new table is cut, until they are in its node
 * @param begunMillis when it began, by the clock of the master that began it; for people only
 * @param rows the rows that it clears, if it clears rows; all otherwise
 */
public record SchemaChange(
    String id,
    long sequence,
    Step step,
    TableId table,
    Optional<TableSchema> wanted,
    List<Bytes> splitRows,
    long begunMillis,
    RowRange rows) {
  /** What is done to the table. */
  public enum Kind {
    /** It comes. */
    CREATE("created"),
    /** It gets another schema. */
    ALTER("altered"),
    /** It goes, and all it holds. */
    DROP("dropped"),
    /** Rows of it are deleted, or all. */
    CLEAR("cleared of rows");

    private final String participle;

    Kind(String participle) {
      this.participle = participle;
    }

    /** "created", "altered", "dropped" or "cleared of rows". */
    public String participle() {
      return participle;
    }
  }

  /** The steps of all kinds, those of one kind in their order. */
  public enum Step {
    WRITE_NODE(Kind.CREATE, "its node is being written to the lock service"),
    WRITE_RECORDS(Kind.CREATE, "its records are being written to METADATA"),
    MAKE_READY(Kind.CREATE, "it is being made ready"),
    ERASE_FAMILIES(
        Kind.ALTER, "a dropped family of the same name is still being removed from its tablets"),
    WRITE_SCHEMA(Kind.ALTER, "its schema is being written to the lock service"),
    TELL_SERVERS(Kind.ALTER, "a tablet server may not know the change yet"),
    MARK_DROPPED(Kind.DROP, "it is being marked as dropped"),
    REMOVE_RECORDS(Kind.DROP, "some of its tablets are not unloaded yet"),
    REMOVE_NODE(Kind.DROP, "its node is being removed from the lock service"),
    CLEAR_TABLETS(Kind.CLEAR, "some of its tablets still have the rows");

    private final Kind kind;
    private final String waitsFor;

    Step(Kind kind, String waitsFor) {
      this.kind = kind;
      this.waitsFor = waitsFor;
    }

    /** Which kind of change takes it. */
    public Kind kind() {
      return kind;
    }

    /** Whether the table's records in METADATA are read or written. */
    public boolean needsRecords() {
      return this == WRITE_RECORDS
          || this == REMOVE_RECORDS
          || this == CLEAR_TABLETS
          || this == ERASE_FAMILIES;
    }

    /** What a change at this step waits for, in words about the table. */
    public String waitsFor() {
      return waitsFor;
    }
  }

  public SchemaChange {
    splitRows = List.copyOf(splitRows);
  }

  /** What is done to the table. */
  public Kind kind() {
    return step.kind();
  }

  /**
   * The same at a later step: what is wanted is in the table's node by then, unless that is what
   * the step is to do.
   */
  public SchemaChange at(Step next) {
    return new SchemaChange(
        id,
        sequence,
        next,
        table,
        next == Step.WRITE_SCHEMA ? wanted : Optional.empty(),
        List.of(),
        begunMillis,
        rows);
  }

  /** What came of it: it was made. */
  public EndedChange made() {
    return new EndedChange(id, sequence, Optional.of(table), Optional.empty());
  }
}
