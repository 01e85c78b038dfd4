package io.stele.log;

import io.stele.format.MalformedException;
import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file with a segment's records by tablet, as {@link SegmentSorter} has written it.
 *
 * <p>Safe for use by any number of threads, which share one open file.
 */
final class SortedFile implements SortedSegment {
  private static final Logger LOG = LoggerFactory.getLogger(SortedFile.class);
  private static final int BUFFER_BYTES = 1 << 20;

  private final FSDataInputStream in;
  private final Path file;
  private final int salt;
  private final SortedFormat.Index index;

  private SortedFile(FSDataInputStream in, Path file, int salt, SortedFormat.Index index) {
    this.in = in;
    this.file = file;
    this.salt = salt;
    this.index = index;
  }

  /**
   * Opens the sorted file of {@code segment}; empty if there is no complete one, so that the
   * segment itself must be read.
   *
   * @throws CorruptionException if it is that of another segment
   * @throws IOException if it cannot be read
   */
  static Optional<SortedFile> open(FileSystem fs, Segment segment) throws IOException {
    Path file = SortedFormat.path(segment);
    FSDataInputStream in;
    long length;
    try {
      length = fs.getFileStatus(file).getLen();
      in = fs.open(file);
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
    boolean opened = false;
    try {
      Optional<SortedFile> sorted = open(in, segment, length);
      opened = sorted.isPresent();
      return sorted;
    } catch (MalformedException | EOFException e) {
      LOG.warn("{} is not whole; its segment is read instead: {}", file, e.toString());
      return Optional.empty();
    } finally {
      if (!opened) {
        in.close();
      }
    }
  }

  private static Optional<SortedFile> open(FSDataInputStream in, Segment segment, long length)
      throws IOException {
    Path file = SortedFormat.path(segment);
    if (length < SortedFormat.FOOTER_BYTES) {
      return Optional.empty();
    }
    byte[] footer = new byte[SortedFormat.FOOTER_BYTES];
    in.readFully(length - footer.length, footer);
    int salt = SortedFormat.salt(footer);
    byte[] index = new byte[SortedFormat.indexLength(footer)];
    long at = length - footer.length - index.length;
    if (at < 0) {
      throw new MalformedException(0, "the index is longer than the file");
    }
    byte[] start = new byte[(int) Math.min(at, LogFormat.HEADER_BYTES_MAX)];
    in.readFully(0, start);
    byte[] header = LogFormat.wholeHeader(start);
    if (LogFormat.salt(header) != salt) {
      throw new MalformedException(0, "its header and its footer are of different segments");
    }
    SegmentLinks.check(segment, file, LogFormat.decodeHeader(header));
    in.readFully(at, index);
    return Optional.of(new SortedFile(in, file, salt, SortedFormat.decode(index, footer)));
  }

  @Override
  public Optional<SegmentLink> link() {
    return index.link();
  }

  @Override
  public long ended() {
    return index.ended();
  }

  @Override
  public RecordSource records(TabletId tablet) {
    return new Records(tablet, index.tablets().getOrDefault(tablet, List.of()).iterator());
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  private final class Records implements RecordSource {
    private final TabletId tablet;
    private final Iterator<SortedFormat.Run> rest;
    private Optional<LogReader> current = Optional.empty();
    private long end;

    Records(TabletId tablet, Iterator<SortedFormat.Run> runs) {
      this.tablet = tablet;
      this.rest = runs;
    }

    @Override
    public Optional<LogRecord> next() throws IOException {
      while (true) {
        if (current.isPresent()) {
          Optional<LogRecord> record = current.get().next();
          if (record.isPresent()) {
            checkTablet(record.get());
            return record;
          }
          checkWhole(current.get());
          current = Optional.empty();
        }
        if (!rest.hasNext()) {
          return Optional.empty();
        }
        open(rest.next());
      }
    }

    private void open(SortedFormat.Run run) {
      end = run.offset() + run.length();
      int buffer = (int) Math.min(BUFFER_BYTES, run.length());
      InputStream bytes = new BufferedInputStream(new RunStream(in, run.offset(), end), buffer);
      current = Optional.of(new LogReader(bytes, file.toString(), salt, run.offset()));
    }

    private void checkTablet(LogRecord record) throws CorruptionException {
      if (!record.tablet().equals(tablet)) {
        throw new CorruptionException(
            file.toString(),
            current.orElseThrow().recordStart(),
            "a record of tablet "
                + record.tablet()
                + " lies where the index has those of tablet "
                + tablet);
      }
    }

    private void checkWhole(LogReader reader) throws CorruptionException {
      if (reader.position() != end) {
        throw new CorruptionException(
            file.toString(), reader.position(), "records of a tablet end before " + end);
      }
    }

    @Override
    public void close() {
      current = Optional.empty(); // The file is shared.
    }
  }

  /** A part of a file that others read at the same time. */
  private static final class RunStream extends InputStream {
    private final FSDataInputStream in;
    private final long end;
    private long position;

    RunStream(FSDataInputStream in, long from, long end) {
      this.in = in;
      this.position = from;
      this.end = end;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      if (position >= end) {
        return -1;
      }
      int read = in.read(position, bytes, offset, (int) Math.min(length, end - position));
      position += Math.max(read, 0);
      return read;
    }
  }
}
