package io.stele.tablet;

import io.stele.model.ColumnFamily;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** A table's schema made ready for use. Immutable. */
final class SchemaRules {
  private final TableSchema schema;
  private final Map<String, GcRule> gc = new HashMap<>();

  SchemaRules(TableSchema schema) {
    this.schema = schema;
    for (ColumnFamily family : schema.families()) {
      gc.put(family.name(), GcRule.of(family.gc()));
    }
  }

  TableSchema schema() {
    return schema;
  }

  /** The rule for a family; of one that the schema does not have everything is garbage. */
  GcRule gc(String family) {
    return gc.getOrDefault(family, GcRule.NOTHING);
  }

  /**
   * Refuses a family that the table does not have.
   *
   * @throws SteleException NOT_FOUND
   */
  void checkFamily(String family) {
    if (!gc.containsKey(family)) {
      throw SteleException.notFound(
          "table "
              + schema.name()
              + " has no family "
              + family
              + ": it has "
              + schema.families().stream()
                  .map(ColumnFamily::name)
                  .collect(Collectors.joining(", ")));
    }
  }
}
