package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.util.List;
import java.util.Optional;

/**
 * A schema change in progress: everything that a master needs to continue it.
 *
 * @param id the client's, the same for each repeated request
 * @param sequence its number among the changes under its table's name
 * @param step the first step that may not have been taken; each step can be repeated
 * @param table the table to change
 * @param wanted the schema, until it is in the table's node; empty then, and for a drop
 * @param splitRows the rows at which a new table is split, until they are in its node
 * @param begunMillis when it began, by the clock of the master that began it; for display only
 * @param rows the rows that it clears, if it clears rows; otherwise all
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
  /** What the change does to the table. */
  public enum Kind {
    /** The table is created. */
    CREATE("created"),
    /** The table gets another schema. */
    ALTER("altered"),
    /** The table and all its data are removed. */
    DROP("dropped"),
    /** Some or all rows of the table are deleted. */
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

  /** The steps of all kinds, those of each kind in order. */
  public enum Step {
    WRITE_NODE(Kind.CREATE, "its node is being written to ZooKeeper"),
    MAKE_DIRECTORY(Kind.CREATE, "its directory is being made"),
    WRITE_RECORDS(Kind.CREATE, "its records are being written to METADATA"),
    MAKE_READY(Kind.CREATE, "it is being made ready"),
    ERASE_FAMILIES(
        Kind.ALTER, "a dropped family of the same name is still being removed from its tablets"),
    WRITE_SCHEMA(Kind.ALTER, "its schema is being written to ZooKeeper"),
    GRANT_READING(Kind.ALTER, "its files do not have the new readers yet"),
    TELL_SERVERS(Kind.ALTER, "a tablet server may not know the change yet"),
    MARK_DROPPED(Kind.DROP, "it is being marked as dropped"),
    REMOVE_RECORDS(Kind.DROP, "some of its tablets are not unloaded yet"),
    REMOVE_NODE(Kind.DROP, "its node is being removed from ZooKeeper"),
    CLEAR_TABLETS(Kind.CLEAR, "some of its tablets still have the rows");

    private final Kind kind;
    private final String waitsFor;

    Step(Kind kind, String waitsFor) {
      this.kind = kind;
      this.waitsFor = waitsFor;
    }

    /** The kind of change that has this step. */
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

    /** What a change at this step waits for, as words about the table. */
    public String waitsFor() {
      return waitsFor;
    }
  }

  public SchemaChange {
    splitRows = List.copyOf(splitRows);
  }

  /**
   * What all kinds of change have when they begin.
   *
   * @param id the client's, the same for each repeated request
   * @param sequence the number among the changes under the table's name
   * @param table the table to change
   * @param begunMillis the time now, by the master's clock; for display only
   */
  public record Head(String id, long sequence, TableId table, long begunMillis) {}

  /** Creates a table with this schema, split at these rows. */
  public static SchemaChange create(Head head, TableSchema schema, List<Bytes> splitRows) {
    return of(head, Step.WRITE_NODE, Optional.of(schema), splitRows, RowRange.ALL);
  }

  /**
   * Gives the table this schema.
   *
   * @param first the first step: {@link Step#ERASE_FAMILIES} or {@link Step#WRITE_SCHEMA}
   */
  public static SchemaChange alter(Head head, Step first, TableSchema schema) {
    return of(head, first, Optional.of(schema), List.of(), RowRange.ALL);
  }

  /** Drops the table. */
  public static SchemaChange drop(Head head) {
    return of(head, Step.MARK_DROPPED, Optional.empty(), List.of(), RowRange.ALL);
  }

  /** Clears the table of these rows. */
  public static SchemaChange clear(Head head, RowRange rows) {
    return of(head, Step.CLEAR_TABLETS, Optional.empty(), List.of(), rows);
  }

  private static SchemaChange of(
      Head head, Step first, Optional<TableSchema> wanted, List<Bytes> splitRows, RowRange rows) {
    return new SchemaChange(
        head.id(),
        head.sequence(),
        first,
        head.table(),
        wanted,
        splitRows,
        head.begunMillis(),
        rows);
  }

  /** What is done to the table. */
  public Kind kind() {
    return step.kind();
  }

  /**
   * This change at a later step: the wanted schema is then in the table's node, unless that is the
   * purpose of the step.
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

  /** The result of the change: it was made. */
  public EndedChange made() {
    return new EndedChange(id, sequence, Optional.of(table), Optional.empty());
  }

  /** The result of the change: it was not made, or not completely. */
  public EndedChange failed(SteleException.Code code, String why) {
    return new EndedChange(
        id, sequence, Optional.of(table), Optional.of(new EndedChange.Failure(code, why)));
  }
}
