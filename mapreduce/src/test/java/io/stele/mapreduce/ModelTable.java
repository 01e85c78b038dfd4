package io.stele.mapreduce;

import io.stele.client.Admin;
import io.stele.client.Rows;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TimeRange;
import java.io.IOException;
import java.util.Comparator;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A table that keeps all versions, and what must be in it by all changes that were acknowledged, in
 * nested maps: no code of the store has a part in that. Every change waits until the one before is
 * acknowledged. For use by any number of threads.
 */
final class ModelTable {
  /** Rows are numbered from 0. */
  static final int ROWS = 800;

  static final String[] FAMILIES = {"f", "g"};
  private static final int QUALIFIERS = 3;
  private static final int VERSIONS = 4;
  private static final int VALUE_BYTES = 100;
  private static final int RANGE_ROWS = 10;

  /** What rows hold: row, column, and timestamp, the latest first, to value. */
  static final class Content
      extends TreeMap<Bytes, NavigableMap<String, NavigableMap<Long, Bytes>>> {
    private static final long serialVersionUID = 1;

    void put(Bytes row, String column, long timestamp, Bytes value) {
      computeIfAbsent(row, key -> new TreeMap<>())
          .computeIfAbsent(column, key -> new TreeMap<>(Comparator.<Long>reverseOrder()))
          .put(timestamp, value);
    }

    private Content copy() {
      Content copy = new Content();
      forEach(
          (row, columns) ->
              columns.forEach(
                  (column, versions) ->
                      versions.forEach((time, value) -> copy.put(row, column, time, value))));
      return copy;
    }

    /** Rows and columns without cells are not there. */
    private void prune(Bytes row) {
      NavigableMap<String, NavigableMap<Long, Bytes>> columns = get(row);
      if (columns != null) {
        columns.values().removeIf(NavigableMap::isEmpty);
        if (columns.isEmpty()) {
          remove(row);
        }
      }
    }
  }

  private final Table table;
  private final Random random;
  private final Lock lock = new ReentrantLock(true); // Or who writes all the time keeps it.
  private final Content content = new Content(); // Guarded by the lock.

  ModelTable(Table table, long seed) {
    this.table = table;
    this.random = new Random(seed);
  }

  static Bytes row(int number) {
    return Bytes.of(String.format("row%05d", number));
  }

  /** What the table at hand, of whatever writer, has. */
  static Content read(Table table) throws IOException {
    Content found = new Content();
    try (Rows rows = table.readRows(RowQuery.ALL.versions(Integer.MAX_VALUE))) {
      for (Row row : rows) {
        for (Cell cell : row.cells()) {
          found.put(
              row.key(),
              cell.family() + ":" + cell.qualifier(),
              cell.timestampMicros(),
              cell.value());
        }
      }
    }
    return found;
  }

  /** Something that is done while nobody writes. */
  @FunctionalInterface
  interface Quiet {
    /** Does it. */
    void run() throws Exception;
  }

  /** What the table has before, during and after {@code quiet}. */
  Content during(Quiet quiet) throws Exception {
    Content[] then = new Content[1];
    alone(
        () -> {
          quiet.run();
          then[0] = content.copy();
        });
    return then[0];
  }

  private void alone(Quiet quiet) throws Exception {
    lock.lock();
    try {
      quiet.run();
    } finally {
      lock.unlock();
    }
  }

  /** Puts a cell into every column of every row. */
  void fill() throws Exception {
    alone(
        () -> {
          for (int i = 0; i < ROWS; i++) {
            fill(row(i));
          }
        });
  }

  private void fill(Bytes row) throws IOException {
    Mutation mutation = Mutation.of(row);
    for (String family : FAMILIES) {
      for (int i = 0; i < QUALIFIERS; i++) {
        Bytes qualifier = Bytes.of("q" + i);
        long timestamp = timestamp();
        Bytes value = value();
        mutation = mutation.put(family, qualifier, timestamp, value);
        content.put(row, family + ":" + qualifier, timestamp, value);
      }
    }
    table.mutate(mutation);
  }

  /** Makes one change, any. */
  void change() throws Exception {
    alone(this::changeNow);
  }

  private void changeNow() throws IOException {
    Bytes row = row(random.nextInt(ROWS));
    int which = random.nextInt(100);
    if (which < 60) {
      put(row);
    } else if (which < 75) {
      deleteCell(row);
    } else if (which < 85) {
      deleteColumn(row);
    } else if (which < 90) {
      deleteFamily(row);
    } else if (which < 95) {
      table.mutate(Mutation.of(row).deleteRow());
      content.remove(row);
    } else {
      replace(row);
    }
    content.prune(row);
  }

  /** Deletes some neighbouring rows by one request to the master. */
  void deleteRows(Admin admin) throws Exception {
    alone(
        () -> {
          int from = random.nextInt(ROWS - RANGE_ROWS);
          RowRange rows = new RowRange(row(from), row(from + RANGE_ROWS));
          admin.deleteRows(table.schema().name(), rows);
          content.subMap(rows.start(), rows.end()).clear();
        });
  }

  private String family() {
    return FAMILIES[random.nextInt(FAMILIES.length)];
  }

  private Bytes qualifier() {
    return Bytes.of("q" + random.nextInt(QUALIFIERS));
  }

  private long timestamp() {
    return 1000 * (1 + random.nextInt(VERSIONS));
  }

  private Bytes value() {
    byte[] value = new byte[random.nextInt(VALUE_BYTES)];
    random.nextBytes(value);
    return Bytes.of(value);
  }

  private void put(Bytes row) throws IOException {
    String family = family();
    Bytes qualifier = qualifier();
    long timestamp = timestamp();
    Bytes value = value();
    table.mutate(Mutation.of(row).put(family, qualifier, timestamp, value));
    content.put(row, family + ":" + qualifier, timestamp, value);
  }

  private NavigableMap<Long, Bytes> versions(Bytes row, String column) {
    return content
        .getOrDefault(row, new TreeMap<>())
        .getOrDefault(column, new TreeMap<>(Comparator.<Long>reverseOrder()));
  }

  private void deleteCell(Bytes row) throws IOException {
    String family = family();
    Bytes qualifier = qualifier();
    long timestamp = timestamp();
    table.mutate(Mutation.of(row).deleteCell(family, qualifier, timestamp));
    versions(row, family + ":" + qualifier).remove(timestamp);
  }

  private void deleteColumn(Bytes row) throws IOException {
    String family = family();
    Bytes qualifier = qualifier();
    TimeRange times = new TimeRange(0, timestamp() + 1);
    table.mutate(Mutation.of(row).deleteColumn(family, qualifier, times));
    versions(row, family + ":" + qualifier).keySet().removeIf(times::contains);
  }

  private void deleteFamily(Bytes row) throws IOException {
    String family = family();
    table.mutate(Mutation.of(row).deleteFamily(family));
    content
        .getOrDefault(row, new TreeMap<>())
        .keySet()
        .removeIf(column -> column.startsWith(family + ":"));
  }

  /** Deletes a row and writes it again in one change. */
  private void replace(Bytes row) throws IOException {
    String family = family();
    Bytes qualifier = qualifier();
    long timestamp = timestamp();
    Bytes value = value();
    table.mutate(Mutation.of(row).deleteRow().put(family, qualifier, timestamp, value));
    content.remove(row);
    content.put(row, family + ":" + qualifier, timestamp, value);
  }
}
