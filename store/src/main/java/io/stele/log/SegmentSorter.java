package io.stele.log;

import io.stele.files.NameSpace;
import io.stele.files.WriteLeases;
import io.stele.format.ByteWriter;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.ProcessRuntime;
import java.io.BufferedOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sorts segments of a fenced log by tablet (section 6 of the paper), so that each tablet's recovery
 * reads its own records and not the whole log.
 *
 * <p>The sorted file stands beside the segment and is only a faster copy of it: where it is missing
 * or damaged, the segment is read. So it is neither synced nor replicated, several may sort the
 * same segment at once, and a segment that is damaged itself is not sorted.
 *
 * <p>Immutable; safe for use by any number of threads.
 */
public final class SegmentSorter {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentSorter.class);
  private static final int BUFFER_BYTES = 256 << 10;
  private static final short REPLICAS = 1; // The segment has more.

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final long partBytes;

  /**
   * A sorter of segments in {@code fs}.
   *
   * @param partBytes how many bytes of records it sorts, and keeps in memory, at a time
   */
  public SegmentSorter(ProcessRuntime runtime, FileSystem fs, long partBytes) {
    this.runtime = runtime;
    this.fs = fs;
    this.partBytes = partBytes;
  }

  /**
   * The segments of user tablets in the fenced log in {@code directory} that have bytes and are not
   * sorted. Segments that are gone, or do not have their listed length, are damaged.
   */
  public static List<Segment> unsorted(FileSystem fs, Path directory) throws IOException {
    List<Segment> segments = FencedLog.segments(fs, directory, TabletKind.USER);
    Map<Path, Map<String, Long>> lengths = new HashMap<>(); // By directory.
    List<Segment> unsorted = new ArrayList<>();
    for (Segment segment : segments) {
      Path parent = segment.path().getParent();
      Map<String, Long> beside = lengths.get(parent);
      if (beside == null) {
        beside = lengths(fs, parent);
        lengths.put(parent, beside);
      }
      if (segment.lengthBytes() > 0 && isUnsorted(segment, beside)) {
        unsorted.add(segment);
      }
    }
    return unsorted;
  }

  private static boolean isUnsorted(Segment segment, Map<String, Long> lengths) {
    return Objects.equals(lengths.get(segment.path().getName()), (Long) segment.lengthBytes())
        && !lengths.containsKey(SortedFormat.path(segment).getName());
  }

  /** The length of each file in {@code directory}, by its name. */
  private static Map<String, Long> lengths(FileSystem fs, Path directory) throws IOException {
    Map<String, Long> lengths = new HashMap<>();
    try {
      for (FileStatus file : fs.listStatus(directory)) {
        lengths.put(file.getPath().getName(), file.getLen());
      }
    } catch (FileNotFoundException e) {
      LOG.warn("{} is gone, and so are the segments in it", directory, e);
    }
    return lengths;
  }

  /**
   * The closed segments of user tablets in the renamed {@code directory} that are not sorted. Those
   * with a summary can be sorted while the others are being closed, which must not be opened: HDFS
   * would ask a DataNode that may be gone how long they are. Reads nothing from DataNodes.
   */
  public static List<Segment> closed(FileSystem fs, Path directory) throws IOException {
    List<Segment> closed = new ArrayList<>();
    Map<String, Long> lengths = lengths(fs, directory);
    WriteLeases leases = WriteLeases.in(fs, directory);
    for (Segment segment : LogDirectory.segments(fs, directory)) {
      if (segment.kind() == TabletKind.USER
          && !lengths.containsKey(SortedFormat.path(segment).getName())
          && leases.isClosed(segment.path().getName())) {
        closed.add(segment);
      }
    }
    return closed;
  }

  /**
   * Sorts the segment in a file, unless that was done before.
   *
   * @param space in which it sorts; nobody else uses it meanwhile
   * @throws IllegalArgumentException if the file does not have the name of a segment
   * @throws io.stele.model.CorruptionException if the segment is damaged
   * @throws IOException if it cannot be read, or the sorted file not written
   */
  public void sort(Path file, SortingSpace space) throws IOException {
    long length = fs.getFileStatus(file).getLen();
    sort(
        LogDirectory.segment(file, length)
            .orElseThrow(() -> new IllegalArgumentException(file + " is not a log segment")),
        space);
  }

  /** See {@link #sort(Path, SortingSpace)}. */
  void sort(Segment segment, SortingSpace space) throws IOException {
    NameSpace.catchUp(fs, segment.path());
    Path sorted = SortedFormat.path(segment);
    if (fs.exists(sorted)) {
      return;
    }
    Optional<LogReader> opened = LogReader.open(fs, segment);
    if (opened.isEmpty()) {
      return; // It has no records.
    }
    Path draft = sorted.suffix("." + Long.toHexString(runtime.random().nextLong()));
    try (LogReader reader = opened.get()) {
      space.clear();
      write(reader, draft, space);
    } catch (IOException | RuntimeException e) {
      deleteDraft(draft, e);
      throw e;
    }
    if (!fs.rename(draft, sorted)) {
      fs.delete(draft, false); // Another was faster.
    }
  }

  private void write(LogReader reader, Path draft, SortingSpace space) throws IOException {
    // The directory may have been swept meanwhile, and must not come back.
    long blockBytes = fs.getDefaultBlockSize(draft);
    try (OutputStream file =
            fs.createNonRecursive(draft, false, BUFFER_BYTES, REPLICAS, blockBytes, null);
        OutputStream out = new BufferedOutputStream(file, BUFFER_BYTES)) {
      byte[] header = LogFormat.encodeHeader(reader.header().orElseThrow());
      Sorting sorting = new Sorting(out, header, space);
      Optional<SegmentLink> link = reader.link();
      for (Optional<EncodedRecord> next = reader.nextEncoded();
          next.isPresent();
          next = reader.nextEncoded()) {
        sorting.add(next.get());
      }
      sorting.end(reader.position(), link);
    }
  }

  private void deleteDraft(Path draft, Exception failed) {
    try {
      fs.delete(draft, false);
    } catch (FileNotFoundException e) {
      // It was not even begun.
    } catch (IOException e) {
      failed.addSuppressed(e); // It goes with the log's directory.
    }
  }

  /** The writing of one file. */
  private final class Sorting {
    private final OutputStream out;
    private final SortingSpace space;
    private final int salt;
    private final Map<TabletId, List<SortedFormat.Run>> index = new TreeMap<>();
    private final Map<TabletId, List<EncodedRecord>> part = new HashMap<>();
    private long partSize;
    private long position;

    Sorting(OutputStream out, byte[] header, SortingSpace space) throws IOException {
      this.out = out;
      this.space = space;
      this.salt = LogFormat.salt(header);
      write(header, 0, header.length);
    }

    void add(EncodedRecord record) throws IOException {
      part.computeIfAbsent(record.tablet(), tablet -> new ArrayList<>()).add(space.keep(record));
      partSize += record.bytes();
      if (partSize >= partBytes) {
        endPart();
      }
    }

    private void endPart() throws IOException {
      for (Map.Entry<TabletId, List<EncodedRecord>> tablet : new TreeMap<>(part).entrySet()) {
        long from = position;
        for (EncodedRecord record : tablet.getValue()) {
          append(record);
        }
        index
            .computeIfAbsent(tablet.getKey(), id -> new ArrayList<>())
            .add(new SortedFormat.Run(from, position - from));
      }
      part.clear();
      space.clear();
      partSize = 0;
    }

    private void append(EncodedRecord record) throws IOException {
      ByteWriter frame = new ByteWriter(LogFormat.FRAME_BYTES);
      LogFormat.encodeFrame(frame, salt, position, record.length(), record.bodyCrc());
      write(frame.array(), 0, frame.size());
      write(record.array(), record.at(), record.length());
    }

    private void write(byte[] bytes, int at, int length) throws IOException {
      out.write(bytes, at, length);
      position += length;
    }

    void end(long ended, Optional<SegmentLink> link) throws IOException {
      endPart();
      out.write(SortedFormat.encode(new SortedFormat.Index(ended, link, index), salt));
    }
  }
}
