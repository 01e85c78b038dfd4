package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.NewerFormatException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.LoweredCounts;
import java.util.List;
import java.util.Set;

/**
 * A table as stored in the lock service.
 *
 * @param id its id, never used again
 * @param schema its name and schema
 * @param state whether it is complete
 * @param dropped the families that it once had
 * @param lowered how many versions its families counted before
 * @param splitRows the rows at which it was split when it was created. They are kept as long as the
 *     table: tablets that meet at one are never merged because they are small
 * @param requires features that whoever changes the node must know
 * @param version of the node, on which changes are conditional
 */
public record StoredTable(
    TableId id,
    TableSchema schema,
    State state,
    DroppedFamilies dropped,
    LoweredCounts lowered,
    List<Bytes> splitRows,
    Set<String> requires,
    int version) {
  /** The states of a table. */
  public enum State {
    /** Its name or its tablets may still be missing. */
    CREATING,
    /** It is complete. */
    READY,
    /** Its name, tablets and files are being removed. */
    DROPPING
  }

  public StoredTable {
    splitRows = List.copyOf(splitRows);
    requires = Set.copyOf(requires);
  }

  /**
   * Refuses to change a table of which a later version has written what this one does not know.
   *
   * @throws NewerFormatException if it is one
   */
  public void requireChangeable() {
    Features.checkChange(requires, "table " + schema.name() + " (" + id + ")");
  }
}
