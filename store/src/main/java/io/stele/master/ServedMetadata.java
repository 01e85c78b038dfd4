package io.stele.master;

import io.stele.metadata.MetadataKeys;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which records can be read and written: the root tablet's record always, METADATA's records while
 * the root tablet is served, and any other record while the METADATA tablet with its row is served.
 * Immutable.
 */
final class ServedMetadata {
  private final boolean rootServed;
  private final NavigableMap<Bytes, Part> byStart = new TreeMap<>();

  /**
   * A tablet of METADATA.
   *
   * @param extent rows of METADATA
   */
  record Part(TabletId id, RowRange extent) {}

  /**
   * What is served.
   *
   * @param parts the tablets of METADATA that are served
   */
  ServedMetadata(boolean rootServed, List<Part> parts) {
    this.rootServed = rootServed;
    parts.forEach(part -> byStart.put(part.extent().start(), part));
  }

  /** Whether the record of {@code tablet}, in the row {@code row}, can be read and written. */
  boolean hasRecord(TabletId tablet, Bytes row) {
    if (tablet.table().equals(TableId.ROOT)) {
      return true;
    }
    return rootServed && (tablet.table().equals(TableId.METADATA) || home(row).isPresent());
  }

  /** The served tablet of METADATA with {@code row} in it. */
  Optional<TabletId> home(Bytes row) {
    return Optional.ofNullable(byStart.floorEntry(row))
        .map(Map.Entry::getValue)
        .filter(part -> rootServed && part.extent().contains(row))
        .map(Part::id);
  }

  /** Whether the records of all tablets of {@code table} can be read and written. */
  boolean hasRecords(TableId table) {
    return runs().stream().anyMatch(run -> rows(run).covers(MetadataKeys.table(table)));
  }

  /** The rows of neighbours. */
  static RowRange rows(List<Part> run) {
    return new RowRange(run.get(0).extent().start(), run.get(run.size() - 1).extent().end());
  }

  /** The served tablets of METADATA in order, neighbours together in one list. */
  List<List<Part>> runs() {
    List<List<Part>> runs = new ArrayList<>();
    Part last = null;
    for (Part part : rootServed ? byStart.values() : List.<Part>of()) {
      if (last == null || !last.extent().end().equals(part.extent().start())) {
        runs.add(new ArrayList<>());
      }
      runs.get(runs.size() - 1).add(part);
      last = part;
    }
    return runs;
  }
}
