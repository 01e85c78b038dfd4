package io.stele.direct;

import io.stele.client.PinnedTablets;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.record.FileRef;
import io.stele.record.PinnedTablet;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import io.stele.tablet.PinnedFiles;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rows of a table as a job has pinned them, in ascending order, read from the table's files,
 * without its tablet servers.
 *
 * <p>Nothing keeps these files: a compaction below the pin may replace them at any time, and the
 * sweep deletes them. Then the tablet's record is read again, and the new files are read from the
 * next row on. They have the same contents at the pin, even if the tablet was split meanwhile. So
 * when reading fails, the current record decides: if it names the same files, they are tried again
 * for {@code stele.client.timeout}, unless they are damaged. Without the pin nothing is read.
 *
 * <p>Reads the rows once. Not safe for use by several threads.
 */
public final class DirectRows implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(DirectRows.class);
  private static final int READAHEAD_BYTES = 16 << 20;
  private static final Duration AGAIN_AFTER = Duration.ofSeconds(1);

  private final PinnedTablets tablets;
  private final FileReads reads;
  private final RowQuery query;
  private final int readaheadBytes;
  private final List<RowRange> ranges; // Ascending.
  private Bytes from; // All before it was returned, or has nothing to see.
  private Optional<Bytes> last = Optional.empty(); // A row returned since: the next is after it.
  private boolean done;
  private Optional<Open> open = Optional.empty();
  private Optional<Failed> failed = Optional.empty();
  private long retries;

  /** A tablet being read. */
  private record Open(PinnedTablet tablet, PinnedFiles files) {}

  /** A failure since the last row, the files it may be due to, and how long to try again. */
  private record Failed(IOException why, List<FileRef> files, Deadline end) {}

  private DirectRows(
      PinnedTablets tablets, RowQuery query, List<RowRange> ranges, int readaheadBytes)
      throws IOException {
    this.tablets = tablets;
    this.reads = new FileReads(tablets.files());
    this.query = query;
    this.readaheadBytes = readaheadBytes;
    this.ranges = ranges;
    this.done = ranges.isEmpty();
    this.from = done ? Bytes.EMPTY : ranges.get(0).start();
  }

  /**
   * Begins to read.
   *
   * @param table read at a pin
   * @param query what to read; its ranges are ascending and do not overlap, none: all rows; its row
   *     limit is ignored
   */
  public static DirectRows of(Table table, RowQuery query) throws IOException {
    return of(table, query, READAHEAD_BYTES);
  }

  /**
   * Like {@link #of(Table, RowQuery)}.
   *
   * @param readaheadBytes how far to read ahead, in all files together
   */
  public static DirectRows of(Table table, RowQuery query, int readaheadBytes) throws IOException {
    List<RowRange> ranges = query.ranges().isEmpty() ? List.of(RowRange.ALL) : query.ranges();
    return new DirectRows(table.pinnedTablets(), query, ranges, readaheadBytes);
  }

  /** How often a tablet's record was read again because its files could not be read. */
  public long retries() {
    return retries;
  }

  /** Bytes of files read from DataNodes of the same host, where the file system tells. */
  public long localBytes() {
    return reads.local();
  }

  /** Bytes of files read from DataNodes of other hosts. */
  public long remoteBytes() {
    return reads.remote();
  }

  /**
   * The next row, or none when all have been read.
   *
   * @throws io.stele.model.SteleException REFUSED if the job is over, or a row is too large
   * @throws IOException if files cannot be read for {@code stele.client.timeout}, or are damaged;
   *     it names table, tablet and file, and says whether it helps to try again. Or the thread was
   *     interrupted
   */
  public Optional<Row> read() throws IOException {
    while (isLeft()) {
      PinnedTablet tablet = open.isPresent() ? open.get().tablet() : find();
      try {
        if (open.isEmpty()) {
          open = Optional.of(open(tablet));
        }
        PinnedFiles files = open.get().files();
        Optional<Row> row = next(files);
        failed = Optional.empty();
        if (row.isPresent()) {
          last = Optional.of(row.get().key()); // Its successor is made when it is needed.
          return row;
        }
        goTo(tablet.rows().end());
        closeFiles();
      } catch (IOException e) {
        retryOrThrow(e, tablet);
      }
    }
    return Optional.empty();
  }

  /** Whether any row is left that was asked for; without one no tablet is opened. */
  private boolean isLeft() {
    done = done || (open.isEmpty() && left(from()).isEmpty());
    return !done;
  }

  private Optional<Row> next(PinnedFiles files) throws IOException {
    reads.begin();
    try {
      return files.next(tablets::alive);
    } finally {
      reads.end();
    }
  }

  /** The tablet to go on in, once there is some hope that its files can be read. */
  private PinnedTablet find() throws IOException {
    PinnedTablet tablet = tablets.find(from());
    if (failed.isPresent()) {
      Failed last = failed.get();
      if (!tablet.files().containsAll(last.files())) {
        failed = Optional.empty(); // The new files have as much time as those had.
      } else if (last.end().isOver() || last.why() instanceof CorruptionException) {
        throw unreadable(last.why(), tablet);
      } else {
        tablets.pause(AGAIN_AFTER);
      }
    }
    return tablet;
  }

  /** The failure after which nothing more is tried: what, where and what to do next. */
  private IOException unreadable(IOException why, PinnedTablet tablet) throws IOException {
    String where =
        "tablet "
            + tablet.id()
            + " of table "
            + tablets.name()
            + ", read at pin "
            + tablet.pin().name()
            + " from row \""
            + from()
            + "\" on";
    if (why instanceof CorruptionException damage) {
      CorruptionException named =
          new CorruptionException(
              damage.file(),
              damage.offset(),
              damage.detail()
                  + "; it is a file of "
                  + where
                  + ". Reading it again does not help: find all damage with `stele check --data`");
      named.initCause(damage);
      return named;
    }
    return new IOException(
        "cannot read the files of "
            + where
            + ", for "
            + tablets.timeout().toMillis()
            + " ms and "
            + retries
            + " attempts: "
            + (why.getClass() == IOException.class ? why.getMessage() : why.toString())
            + ". "
            + advice(why),
        why);
  }

  private static String advice(IOException why) {
    if (why instanceof FileNotFoundException) {
      return "The tablet's record still names this file, so another attempt will not find it"
          + " either: run `stele check`";
    }
    if (why instanceof AccessControlException) {
      return "Another attempt may not read it either, until the user is a reader of the table:"
          + " `stele table alter --reader`";
    }
    return "Another attempt may succeed once HDFS can read them: see its live DataNodes with `hdfs"
        + " dfsadmin -report`, and missing blocks with `hdfs fsck`";
  }

  private Open open(PinnedTablet tablet) throws IOException {
    RowQuery rest = query.withRanges(left(from()));
    reads.begin();
    try {
      return new Open(
          tablet,
          PinnedFiles.open(
              new OpenSSTables(tablets.runtime(), tablets.files(), NoBlockCache.INSTANCE),
              tablets.root(),
              tablet,
              rest,
              Table.ROW_BYTES_MAX,
              readaheadBytes));
    } finally {
      reads.end();
    }
  }

  /**
   * Goes on at the first row asked for that is not before {@code row}; the empty one is the end.
   */
  private void goTo(Bytes row) {
    List<RowRange> rest = row.isEmpty() ? List.of() : left(row);
    done = rest.isEmpty();
    last = Optional.empty();
    from = done ? from : rest.get(0).start();
  }

  /** Where to go on. */
  private Bytes from() {
    from = last.map(Bytes::successor).orElse(from);
    last = Optional.empty();
    return from;
  }

  private List<RowRange> left(Bytes row) {
    RowRange rest = new RowRange(row, Bytes.EMPTY);
    return ranges.stream().flatMap(range -> range.intersection(rest).stream()).toList();
  }

  private void retryOrThrow(IOException failure, PinnedTablet tablet) throws IOException {
    if (Futures.isInterruption(failure)) {
      throw failure;
    }
    LOG.info(
        "Cannot read files of {} at pin {}; will read its record again: {}",
        tablet.id(),
        tablet.pin().name(),
        failure.toString());
    Deadline end = failed.map(Failed::end).orElseGet(tablets::deadline);
    failed = Optional.of(new Failed(failure, tablet.files(), end));
    retries++;
    closeFiles();
  }

  private void closeFiles() {
    Optional<Open> last = open;
    open = Optional.empty();
    try {
      if (last.isPresent()) {
        last.get().files().close();
      }
    } catch (IOException e) {
      LOG.info("Cannot close files of {}: {}", last.map(Open::tablet), e.toString());
    }
  }

  @Override
  public void close() {
    done = true;
    closeFiles();
  }
}
