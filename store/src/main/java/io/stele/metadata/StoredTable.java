package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.util.List;

/**
 * A table as the lock service has it.
 *
 * @param id its id, never used again
 * @param schema its name and schema
 * @param state whether it is there yet, or still
 * @param splitRows where it is cut at first; meaningful while it is being created
 * @param version of the node: what a change is conditional on
 */
public record StoredTable(
    TableId id, TableSchema schema, State state, List<Bytes> splitRows, int version) {
  /** A table's life. */
  public enum State {
    /** Its name or its tablets may not be there yet. */
    CREATING,
    /** It is there. */
    READY,
    /** Its name, tablets and files go. */
    DROPPING
  }

  public StoredTable {
    splitRows = List.copyOf(splitRows);
  }
}
