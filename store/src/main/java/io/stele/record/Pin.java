package io.stele.record;

import io.stele.model.TableSchema;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A point of a tablet that stays readable, whatever is written, compacted or altered after it,
 * until the pin is removed. It is part of the tablet's durable record, and of the records of the
 * children of a split.
 *
 * @param name names its owner; unique in the tablet
 * @param readPoint reads at the pin see the operations up to this sequence number. When the pin was
 *     made, everything up to it was in SSTables, so no memtable and no file ever has operations
 *     from both sides of it
 * @param clockMicros the time by which reads at the pin compute ages; microseconds since 1970
 * @param timestampMicros not below any timestamp that the tablet assigned up to the read point, and
 *     below all that it assigned later; 0 if a version made the pin that did not note it
 * @param schema whose garbage collection policies these reads follow
 * @param former how many versions families counted before, in the order of the alterations
 */
public record Pin(
    String name,
    long readPoint,
    long clockMicros,
    long timestampMicros,
    TableSchema schema,
    Map<String, List<FormerCount>> former) {
  public Pin {
    Map<String, List<FormerCount>> copy = new TreeMap<>();
    former.forEach((family, counts) -> copy.put(family, List.copyOf(counts)));
    former = Collections.unmodifiableMap(copy);
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a pin needs a name");
    }
  }

  /** A pin without a timestamp, of a table whose families never counted more versions. */
  public Pin(String name, long readPoint, long clockMicros, TableSchema schema) {
    this(name, readPoint, clockMicros, 0, schema, Map.of());
  }
}
