package io.stele.master;

import io.stele.metadata.MetadataKeys;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the records of tables for the master's loop, and keeps {@link KnownRecords} up to date with
 * them. What a step reads depends on what has changed, not on how many tablets there are:
 *
 * <ul>
 *   <li>rows that servers say they changed, rows that somebody asks for, and the rows of tablets
 *       that are to be moved or merged;
 *   <li>the rows of tables that changed, and of all that a server had when it was fenced, as it may
 *       have split tablets without anybody having heard of it;
 *   <li>the rows of tablets that no server serves, neighbours together, again and again, the less
 *       often the more there are;
 *   <li>a part of METADATA every ten seconds, each part in turn, as a message may be lost.
 * </ul>
 *
 * <p>A part of METADATA that was never read is read whole. What cannot be read now stays to be
 * read.
 *
 * <p>For the loop alone, except for {@link #changed}.
 */
final class RecordReads {
  private static final Logger LOG = LoggerFactory.getLogger(RecordReads.class);
  private static final int REPORTED_MAX = 10_000;
  private static final Duration PART_EVERY = Duration.ofSeconds(10);
  private static final Duration AGAIN_MIN = Duration.ofMillis(200);
  private static final Duration AGAIN_EACH = Duration.ofMillis(2);

  /** Ranges with so few records between them are read as one: a read brings neighbours anyway. */
  private static final int GAP_RECORDS = 16;

  private final ProcessRuntime runtime;
  private final TabletRecordReader records;
  private final RecordFetch fetch;
  private final KnownRecords known;
  private final LoopSignal signal;
  private final int partRows;

  private final Set<RecordRow> reported = new ConcurrentSkipListSet<>();
  private final Set<TabletId> readInFull = new HashSet<>(); // Tablets of METADATA.
  private final Map<Bytes, Long> readNanos = new HashMap<>(); // Of tablets in transition, by row.
  private Set<ServerId> fenced = Set.of(); // Their rows were read, or are in ranges.
  private List<RowRange> ranges = List.of(); // To be read.
  private Bytes nextPart = Bytes.EMPTY;
  private long nextPartNanos;

  /**
   * One round of reads, for a step of the loop.
   *
   * @param metadata what can be read
   * @param overtaken whether to give up
   * @param inTransition tablets that no server serves, or that must not stay as they are
   * @param wanted those of them that are to be moved or merged
   */
  record Round(
      ServedMetadata metadata,
      BooleanSupplier overtaken,
      Collection<TabletRecord> inTransition,
      Set<TabletId> wanted) {}

  /**
   * Reads into {@code known}.
   *
   * @param fetch what reads many rows at once
   * @param signal told if too much was reported
   * @param partRows how many rows a part of METADATA has that is read every ten seconds
   */
  RecordReads(
      ProcessRuntime runtime,
      TabletRecordReader records,
      RecordFetch fetch,
      KnownRecords known,
      LoopSignal signal,
      int partRows) {
    this.runtime = runtime;
    this.records = records;
    this.fetch = fetch;
    this.known = known;
    this.signal = signal;
    this.partRows = partRows;
    this.nextPartNanos = runtime.nanoTime() + PART_EVERY.toNanos();
  }

  /** The records in these rows may have changed. Any thread may call it. */
  void changed(Collection<RecordRow> rows) {
    if (reported.size() + rows.size() > REPORTED_MAX) {
      signal.rereadAllSoon();
    } else {
      reported.addAll(rows);
    }
  }

  /** Marks all records to be read again. */
  void readAllAgain() {
    readInFull.clear();
  }

  /** Marks rows to be read again. */
  void readSoon(Collection<RowRange> rows) {
    ranges = Stream.concat(ranges.stream(), rows.stream()).distinct().toList();
  }

  /**
   * Marks what the fenced servers had to be read again. Call it before anything is done about their
   * tablets.
   */
  void fenced(Set<ServerId> now) {
    for (ServerId server : now) {
      if (!fenced.contains(server)) {
        readSoon(rowsOf(known.on(server)));
      }
    }
    fenced = now;
  }

  /** The rows of METADATA that tablets have, and those of others that were split from them. */
  private List<RowRange> rowsOf(List<TabletRecord> tablets) {
    List<RowRange> rows = new ArrayList<>();
    tablets.stream()
        .filter(tablet -> !tablet.id().table().isSystem())
        .sorted(Comparator.comparing(TabletRecord::row))
        .map(RecordReads::rowsOf)
        .forEach(
            next -> {
              int last = rows.size() - 1;
              if (last >= 0 && known.isFew(rows.get(last).end(), next.start(), GAP_RECORDS)) {
                rows.set(last, new RowRange(rows.get(last).start(), next.end()));
              } else {
                rows.add(next);
              }
            });
    return rows;
  }

  /** The row of METADATA that a tablet has, and those of others that were split from it. */
  static RowRange rowsOf(TabletRecord tablet) {
    Bytes first = MetadataKeys.lookup(tablet.id().table(), tablet.extent().start());
    return new RowRange(first, tablet.row().successor());
  }

  /** Notes that a record is current: the loop has just written or read it. */
  void isAsOfNow(TabletRecord record) {
    readNanos.put(record.row(), runtime.nanoTime());
  }

  /**
   * Reads what is to be read, as far as METADATA is served.
   *
   * @return whether every attempted read succeeded
   */
  boolean read(Round round) {
    Set<Bytes> rows = new HashSet<>();
    round.inTransition().forEach(record -> rows.add(record.row()));
    readNanos.keySet().retainAll(rows);
    boolean complete = true;
    for (List<ServedMetadata.Part> run : round.metadata().runs()) {
      if (!read(run, round)) {
        complete = false;
        for (ServedMetadata.Part part : run.size() > 1 ? run : List.<ServedMetadata.Part>of()) {
          if (!round.overtaken().getAsBoolean()) {
            read(List.of(part), round);
          }
        }
      }
    }
    if (complete && runtime.nanoTime() - nextPartNanos >= 0) {
      complete = readPart(round.metadata());
    }
    return complete;
  }

  /** Returns whether the read succeeded. */
  private boolean read(List<ServedMetadata.Part> run, Round round) {
    RowRange rows = ServedMetadata.rows(run);
    try {
      List<RowRange> unread = unread(run);
      for (RowRange part : unread) {
        known.replace(part, records.readUndamaged(part, Integer.MAX_VALUE, damage -> {}));
        ranges = without(part);
      }
      run.forEach(part -> readInFull.add(part.id()));
      if (!unread.equals(List.of(rows))) {
        readRanges(rows, round);
        readReported(rows);
      }
      return true;
    } catch (IOException | SteleException e) {
      LOG.warn("METADATA's rows {} cannot be read now; will retry: {}", rows, e.toString());
      return false;
    }
  }

  /** The rows of the parts that were never read; neighbours, as the halves of a split, as one. */
  private List<RowRange> unread(List<ServedMetadata.Part> run) {
    List<ServedMetadata.Part> parts =
        run.stream().filter(part -> !readInFull.contains(part.id())).toList();
    return new ServedMetadata(true, parts).runs().stream().map(ServedMetadata::rows).toList();
  }

  private void readRanges(RowRange rows, Round round) throws IOException {
    List<RowRange> here =
        Stream.concat(ranges.stream(), rowsOf(due(rows, round)).stream())
            .flatMap(range -> range.intersection(rows).stream())
            .toList();
    if (here.isEmpty()) {
      return;
    }
    for (RecordFetch.RangeRead read : fetch.readRanges(here)) {
      known.replace(read.rows(), read.now());
      read.now().forEach(this::isAsOfNow);
    }
    ranges = without(rows);
  }

  /** The tablets in transition that were not read for some time. */
  private List<TabletRecord> due(RowRange rows, Round round) {
    long pause = Math.max(AGAIN_MIN.toNanos(), AGAIN_EACH.toNanos() * round.inTransition().size());
    long now = runtime.nanoTime();
    return round.inTransition().stream()
        .filter(record -> !record.id().table().isSystem() && rows.contains(record.row()))
        .filter(
            record -> {
              Long read = readNanos.get(record.row());
              return read == null || now - read >= pause || round.wanted().contains(record.id());
            })
        .toList();
  }

  /** What is left of the ranges when {@code rows} were read. */
  private List<RowRange> without(RowRange rows) {
    List<RowRange> left = new ArrayList<>();
    for (RowRange range : ranges) {
      if (range.intersection(rows).isEmpty()) {
        left.add(range);
        continue;
      }
      if (range.start().compareTo(rows.start()) < 0) {
        left.add(new RowRange(range.start(), rows.start()));
      }
      if (!rows.end().isEmpty() && range.isBeforeEnd(rows.end())) {
        left.add(new RowRange(rows.end(), range.end()));
      }
    }
    return left;
  }

  private void readReported(RowRange rows) throws IOException {
    Set<RecordRow> news = new TreeSet<>();
    reported.stream().filter(row -> rows.contains(row.row())).forEach(news::add);
    reported.removeAll(news); // Before the reads: more may be reported meanwhile.
    try {
      for (RecordFetch.RowRead read : fetch.read(news)) {
        take(read);
      }
    } catch (IOException | SteleException e) {
      reported.addAll(news);
      throw e;
    }
  }

  private void take(RecordFetch.RowRead read) {
    Bytes row = read.row().row();
    readNanos.put(row, runtime.nanoTime());
    if (read.now().isEmpty()) {
      known.remove(row);
      return;
    }
    TabletRecord now = read.now().get();
    Optional<TabletRecord> lost =
        known.at(row).filter(before -> before.extent().start().compareTo(now.extent().start()) < 0);
    known.put(now);
    lost.ifPresent(before -> readSoon(List.of(rowsOf(before)))); // It was split.
  }

  /** Reads the next part of METADATA that is served; returns whether that succeeded. */
  private boolean readPart(ServedMetadata metadata) {
    List<RowRange> runs = metadata.runs().stream().map(ServedMetadata::rows).toList();
    if (runs.isEmpty()) {
      return true; // There is nothing that could be read.
    }
    Optional<RowRange> here =
        runs.stream()
            .flatMap(run -> run.intersection(new RowRange(nextPart, Bytes.EMPTY)).stream())
            .findFirst();
    RowRange rows = here.orElse(runs.get(0));
    try {
      List<TabletRecord> now = records.readUndamaged(rows, partRows, damage -> {});
      boolean all = now.size() < partRows;
      Bytes end = all ? rows.end() : now.get(now.size() - 1).row().successor();
      known.replace(new RowRange(rows.start(), end), now);
      nextPart = end; // Empty after the last one: it goes on at the first.
      nextPartNanos = runtime.nanoTime() + PART_EVERY.toNanos();
      return true;
    } catch (IOException | SteleException e) {
      LOG.warn("A part of METADATA, {}, cannot be read now; will retry: {}", rows, e.toString());
      return false;
    }
  }
}
