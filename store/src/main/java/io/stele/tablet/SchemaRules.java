package io.stele.tablet;

import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.OperationRules;
import io.stele.model.TableSchema;
import io.stele.record.FormerCount;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** A table's schema, prepared for use. Immutable. */
final class SchemaRules {
  private final OperationRules operations;
  private final FormerCounts counts;
  private final Map<String, GcRule> gc = new HashMap<>();
  private final Map<String, LocalityGroup> groups = new HashMap<>();

  /** The rules of a schema whose families never counted more versions. */
  SchemaRules(TableSchema schema) {
    this(schema, FormerCounts.NONE);
  }

  /** The rules of a tablet. */
  SchemaRules(TableSchema schema, FormerCounts counts) {
    this(schema, counts, counts.byFamily());
  }

  /** The rules of a pin. */
  SchemaRules(TableSchema schema, Map<String, List<FormerCount>> former) {
    this(schema, FormerCounts.NONE, former);
  }

  private SchemaRules(
      TableSchema schema, FormerCounts counts, Map<String, List<FormerCount>> former) {
    this.operations = new OperationRules(schema);
    this.counts = counts;
    for (ColumnFamily family : schema.families()) {
      List<FormerCount> before = former.getOrDefault(family.name(), List.of());
      gc.put(family.name(), GcRule.of(family.gc(), before));
      groups.put(family.name(), schema.group(family.group()).orElseThrow());
    }
  }

  private SchemaRules(SchemaRules now, long sequence) {
    this.operations = now.operations;
    this.counts = now.counts;
    now.gc.forEach((family, rule) -> gc.put(family, rule.at(sequence)));
    groups.putAll(now.groups);
  }

  /** The rules as of operation {@code sequence}: see {@link GcRule#at}. */
  SchemaRules at(long sequence) {
    boolean same = gc.values().stream().allMatch(rule -> rule.at(sequence) == rule);
    return same ? this : new SchemaRules(this, sequence);
  }

  /** Whether the families are the same, and their rules decide the same. */
  boolean judgesAs(SchemaRules other) {
    return gc.keySet().equals(other.gc.keySet())
        && gc.entrySet().stream().allMatch(one -> one.getValue().isAs(other.gc(one.getKey())));
  }

  /**
   * Whether {@code families} have the same policies as under {@code earlier} rules, or are gone:
   * what those found to be garbage is then surely garbage by these.
   */
  boolean confirm(SchemaRules earlier, Collection<String> families) {
    return families.stream()
        .allMatch(family -> gc(family) == GcRule.NOTHING || gc(family).isAs(earlier.gc(family)));
  }

  TableSchema schema() {
    return operations.schema();
  }

  /** How many versions the tablet's families counted before; none for those of a pin. */
  FormerCounts counts() {
    return counts;
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
