package io.stele.tablet;

import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.OperationRules;
import io.stele.model.TableSchema;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** A table's schema, prepared for use. Immutable. */
final class SchemaRules {
  private final OperationRules operations;
  private final Map<String, GcRule> gc = new HashMap<>();
  private final Map<String, LocalityGroup> groups = new HashMap<>();

  SchemaRules(TableSchema schema) {
    this.operations = new OperationRules(schema);
    for (ColumnFamily family : schema.families()) {
      gc.put(family.name(), GcRule.of(family.gc()));
      groups.put(family.name(), schema.group(family.group()).orElseThrow());
    }
  }

  TableSchema schema() {
    return operations.schema();
  }

  /** Which operations and queries it allows. */
  OperationRules operations() {
    return operations;
  }

  /** The rule for a family; of one that the schema does not have everything is garbage. */
  GcRule gc(String family) {
    return gc.getOrDefault(family, GcRule.NOTHING);
  }

  /** The names of all families. */
  SortedSet<String> families() {
    return new TreeSet<>(gc.keySet());
  }

  /** The locality group of a family; empty if the schema does not have it. */
  Optional<LocalityGroup> group(String family) {
    return Optional.ofNullable(groups.get(family));
  }

  /** The given families by the name of their locality group, without those there are no more. */
  SortedMap<String, SortedSet<String>> byGroup(Collection<String> families) {
    SortedMap<String, SortedSet<String>> byGroup = new TreeMap<>();
    for (String family : families) {
      group(family)
          .ifPresent(
              group -> byGroup.computeIfAbsent(group.name(), name -> new TreeSet<>()).add(family));
    }
    return byGroup;
  }
}
