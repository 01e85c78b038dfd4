package io.stele.record;

import io.stele.model.ColumnFamily;
import io.stele.model.TableSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which numbers of versions the families of a table counted before alterations made them lower.
 * Each tablet finds out until which of its operations that was: see {@link FormerCount}. Immutable.
 *
 * @param byFamily by the name of the family, in the order of the alterations; none is as low as the
 *     family's present number
 */
public record LoweredCounts(Map<String, List<Lowered>> byFamily) {
  /** No number was ever made lower. */
  public static final LoweredCounts NONE = new LoweredCounts(Map.of());

  /**
   * A number before it was made lower.
   *
   * @param versions the number; 0: the family counted none
   * @param alteration which alteration of the table made it lower: 1 or above, later ones higher
   */
  public record Lowered(int versions, int alteration) {
    private boolean isAbove(int other) {
      return other > 0 && (versions == 0 || versions > other);
    }
  }

  public LoweredCounts {
    Map<String, List<Lowered>> copy = new TreeMap<>();
    byFamily.forEach((family, counts) -> copy.put(family, List.copyOf(counts)));
    byFamily = java.util.Collections.unmodifiableMap(copy);
  }

  /** The same after an alteration of that number from {@code before} to {@code after}. */
  public LoweredCounts altered(TableSchema before, TableSchema after, int alteration) {
    Map<String, List<Lowered>> now = new TreeMap<>();
    for (ColumnFamily family : after.families()) {
      Optional<ColumnFamily> old = before.family(family.name());
      if (old.isEmpty()) {
        continue; // What a dropped family of this name counted is of no interest.
      }
      int count = family.gc().countedVersions();
      List<Lowered> all = new ArrayList<>(byFamily.getOrDefault(family.name(), List.of()));
      all.add(new Lowered(old.get().gc().countedVersions(), alteration));
      all.removeIf(one -> !one.isAbove(count));
      if (!all.isEmpty()) {
        now.put(family.name(), all);
      }
    }
    return new LoweredCounts(now);
  }

  /** The number of the last alteration that made one lower; 0 if there was none. */
  public int latest() {
    return byFamily.values().stream()
        .flatMap(List::stream)
        .mapToInt(Lowered::alteration)
        .max()
        .orElse(0);
  }
}
