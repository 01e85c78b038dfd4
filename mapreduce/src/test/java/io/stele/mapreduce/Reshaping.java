package io.stele.mapreduce;

import io.stele.client.Admin;
import io.stele.client.Stele;
import io.stele.client.TabletEvent;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Splits, moves, merges and compacts the tablets of a table, in turn, until it is closed. Others
 * can wait until each of that has happened again. Safe for use by any number of threads.
 */
final class Reshaping implements AutoCloseable {
  /** More are merged as soon as that is allowed. */
  private static final int TABLETS_MIN = 3;

  private static final int TABLET_ROWS_MIN = 10;

  /** What happens to tablets. */
  enum Kind {
    SPLIT,
    MERGE,
    /** A merge that was refused, because a job has a pin. */
    MERGE_REFUSED,
    MOVE,
    MINOR_COMPACTION,
    MAJOR_COMPACTION
  }

  private interface Work {
    void run() throws Exception;
  }

  private final Stele stele;
  private final String table;
  private final Random random;
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class); // Guarded by this.
  private final Set<TabletEvent> events = new HashSet<>(); // Of the thread.
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final Future<?> running;
  private boolean over; // Guarded by this.

  /** Begins with a table whose rows are those of {@link ModelTable}. */
  Reshaping(Stele stele, String table, long seed) {
    this.stele = stele;
    this.table = table;
    this.random = new Random(seed);
    for (Kind kind : Kind.values()) {
      counts.put(kind, 0);
    }
    running =
        thread.submit(
            () -> {
              try {
                run();
              } finally {
                end();
              }
              return null;
            });
  }

  /** How often each has happened. */
  synchronized Map<Kind, Integer> counts() {
    return new EnumMap<>(counts);
  }

  /** Waits until each of these has happened once more. */
  void await(EnumSet<Kind> kinds) throws Exception {
    Map<Kind, Integer> before = counts();
    boolean ended;
    synchronized (this) {
      while (!over && kinds.stream().anyMatch(kind -> counts.get(kind) <= before.get(kind))) {
        wait();
      }
      ended = over;
    }
    if (ended) {
      running.get(); // Says why.
      throw new IllegalStateException("the reshaping of table " + table + " is over");
    }
  }

  private synchronized void end() {
    over = true;
    notifyAll();
  }

  private synchronized boolean isOver() {
    return over;
  }

  private synchronized void count(Kind kind) {
    counts.merge(kind, 1, Integer::sum);
    notifyAll();
  }

  private void run() throws Exception {
    while (!isOver()) {
      attempt(this::split);
      attempt(this::move);
      attempt(this::merge);
      attempt(() -> stele.admin().compactTable(table));
      look();
    }
  }

  /** What cannot be done at the moment is done another time. */
  private static void attempt(Work work) throws Exception {
    try {
      work.run();
    } catch (SteleException e) {
      switch (e.code()) {
        case REFUSED, RETRY_LATER, OUTCOME_UNKNOWN -> {}
        default -> throw e;
      }
    }
  }

  private List<TabletInfo> tablets() throws IOException {
    return stele.table(table).tablets();
  }

  private void split() throws IOException {
    int last = ModelTable.ROWS / TABLET_ROWS_MIN - 1;
    stele.admin().splitTablet(table, ModelTable.row(TABLET_ROWS_MIN * (1 + random.nextInt(last))));
  }

  private void move() throws IOException {
    List<TabletInfo> tablets = tablets();
    TabletInfo tablet = tablets.get(random.nextInt(tablets.size()));
    Bytes row = tablet.rows().start();
    ServerId now =
        stele.admin().moveTablet(table, row.isEmpty() ? ModelTable.row(0) : row, Optional.empty());
    if (tablet.server().isPresent() && !tablet.server().get().equals(now)) {
      count(Kind.MOVE);
    }
  }

  private void merge() throws IOException {
    List<TabletInfo> tablets = new ArrayList<>(tablets());
    while (tablets.size() > TABLETS_MIN) {
      int which = 1 + random.nextInt(tablets.size() - 1);
      try {
        stele.admin().mergeTablet(table, tablets.remove(which).rows().start());
      } catch (SteleException e) {
        if (e.getMessage().contains("is pinned by job")) {
          count(Kind.MERGE_REFUSED);
        }
        throw e;
      }
    }
  }

  /** Counts what METADATA says has happened. */
  private void look() throws IOException {
    Admin admin = stele.admin();
    for (TabletEvent event : admin.events(table)) {
      if (events.add(event)) {
        String what = event.what();
        if (what.startsWith("split from ")) {
          count(Kind.SPLIT);
        } else if (what.startsWith("merged from ")) {
          count(Kind.MERGE);
        } else if (what.equals("minor compaction")) {
          count(Kind.MINOR_COMPACTION);
        } else if (what.equals("major compaction")) {
          count(Kind.MAJOR_COMPACTION);
        }
      }
    }
  }

  /**
   * Ends it.
   *
   * @throws IOException if it failed
   */
  @Override
  public void close() throws IOException {
    end();
    thread.shutdown();
    try {
      running.get();
    } catch (InterruptedException | ExecutionException e) {
      throw new IOException(e);
    }
  }
}
