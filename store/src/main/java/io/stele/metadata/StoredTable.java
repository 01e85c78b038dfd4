package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.util.List;
import java.util.Set;

/**
 * A table as the lock service has it.
 *
 * @param id its id, never used again
 * @param schema its name and schema
 * @param state whether it is there yet, or still
 * @param droppedFamilies families it once had: files and logs may still have their cells, so that
 *     these are erased before another family takes such a name
 * @param splitRows where it is cut at first; meaningful while it is being created
 * @param version of the node: what a change is conditional on
 */
public record StoredTable(
    TableId id,
    TableSchema schema,
    State state,
    Set<String> droppedFamilies,
    List<Bytes> splitRows,
    int version) {
  /** A table's life. */
  public enum State {
    /** Its name or its tablets may be missing yet. */
    CREATING,
    /** It is complete. */
    READY,
    /** Its name, tablets and files go. */
    DROPPING
  }

  public StoredTable {
    droppedFamilies = Set.copyOf(droppedFamilies);
    splitRows = List.copyOf(splitRows);
  }
}
