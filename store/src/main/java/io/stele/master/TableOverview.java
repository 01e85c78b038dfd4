package io.stele.master;

import io.stele.metadata.Schemas;
import io.stele.metadata.TabletRecord;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.TableId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The largest tables, for the master's page. The lock service is asked which tables there are, and
 * once for the name of each that is shown: no name ever changes.
 *
 * <p>Safe for use by any number of threads.
 */
final class TableOverview {
  private static final Logger LOG = LoggerFactory.getLogger(TableOverview.class);

  /** More would make the page slow. */
  static final int SHOWN_MAX = 200;

  private static final Comparator<Map.Entry<TableId, Totals>> LARGEST =
      Comparator.comparing((Map.Entry<TableId, Totals> table) -> -table.getValue().bytes())
          .thenComparing(Map.Entry::getKey);

  private final Supplier<MasterLoop.View> views;
  private final Schemas schemas;
  private final ConcurrentMap<TableId, String> names = new ConcurrentHashMap<>();

  TableOverview(Supplier<MasterLoop.View> views, Schemas schemas) {
    this.views = views;
    this.schemas = schemas;
  }

  /**
   * What the tablets of a table come to.
   *
   * @param notServed of these tablets, how many no server serves
   * @param bytes of their SSTables
   */
  record Totals(int tablets, int notServed, long bytes) {
    static final Totals NONE = new Totals(0, 0, 0);

    private Totals and(boolean served, long more) {
      return new Totals(tablets + 1, notServed + (served ? 0 : 1), bytes + more);
    }
  }

  /** A table. */
  record Table(String name, Totals totals) {}

  /**
   * Tables, the largest first.
   *
   * @param all how many tables there are
   */
  record Shown(List<Table> tables, int all) {
    Shown {
      tables = List.copyOf(tables);
    }
  }

  /** The tables at this moment. */
  Shown now() throws IOException {
    Set<TableId> ids = schemas.ids();
    names.keySet().retainAll(ids);
    Map<TableId, Totals> totals = new HashMap<>();
    ids.forEach(id -> totals.put(id, Totals.NONE));
    MasterLoop.View view = views.get();
    for (TabletRecord record : view.tablets().values()) {
      totals.computeIfPresent(
          record.id().table(), (id, sum) -> sum.and(view.isServed(record), record.fileBytes()));
    }
    List<Table> tables = new ArrayList<>();
    for (Map.Entry<TableId, Totals> table :
        totals.entrySet().stream().sorted(LARGEST).limit(SHOWN_MAX).toList()) {
      name(table.getKey()).ifPresent(name -> tables.add(new Table(name, table.getValue())));
    }
    return new Shown(tables, ids.size());
  }

  /** Empty if the table is gone meanwhile. */
  private Optional<String> name(TableId id) throws IOException {
    String known = names.get(id);
    if (known != null) {
      return Optional.of(known);
    }
    try {
      Optional<String> name = schemas.table(id).map(table -> table.schema().name());
      name.ifPresent(read -> names.put(id, read));
      return name;
    } catch (CorruptionException e) {
      LOG.debug("The node of table {} is damaged", id, e); // `stele check` says so.
      return Optional.of(id + " (its node is damaged)");
    } catch (NewerFormatException e) {
      LOG.debug("The node of table {} is of a newer version", id, e);
      return Optional.of(id + " (its node is of a newer version)");
    }
  }
}
