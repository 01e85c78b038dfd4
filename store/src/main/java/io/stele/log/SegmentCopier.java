package io.stele.log;

import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.files.NameSpace;
import io.stele.runtime.Futures;
import io.stele.runtime.HedgedCall;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies segments of a process that no longer writes. A copy is on disk, on enough nodes.
 *
 * <p><b>Closed segments</b> are copied if their writer has not ended them in order: a record that
 * it was about to acknowledge may be on one node only, or in memory only. Once a replay has seen
 * the record, it counts: the next server tells a client that sends it again that it is applied.
 *
 * <p><b>Open segments</b> are copied if the process is known to have ended. HDFS closes such a file
 * seconds later, with a DataNode's next heartbeat, or minutes later if a DataNode of its pipeline
 * is gone too. Then they are also copied if the process may live, but has no lease.
 *
 * <p>This loses nothing. A DataNode counts bytes as acknowledged before it tells so to the one
 * before it, and the first before it tells the writer. So a reader that opens the file after the
 * last record was acknowledged, and asks any one of them, is told a length that has all of them. It
 * may see more; so may a later reader, or less of that. Therefore the copy is what counts from then
 * on, and the segment is not read any more ({@link FencedLog}).
 *
 * <p>If a copy takes long, for a DataNode that hangs, others are begun, which are on other nodes.
 *
 * <p>Do not use it while the writer may acknowledge records of the file: it would go on unhindered.
 * Safe for use by any number of threads.
 */
final class SegmentCopier {
  /** Begins the names of directories with copies, in the directory of the log. */
  static final String DIRECTORY = "copy.";

  private static final Logger LOG = LoggerFactory.getLogger(SegmentCopier.class);
  private static final int AT_ONCE = 8; // Each takes some 6 MiB of memory.
  private static final int ROUNDS_MAX = 3;
  private static final int FURTHER_AT_ONCE = 8; // As each takes some 6 MiB of memory, too.
  private static final Duration ATTEMPT_PATIENCE = Duration.ofSeconds(3);
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int BUFFER_BYTES_MIN = 64 << 10; // Most segments have no records.

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final int replicasMin;
  private final Permits copies;
  private final Permits further;

  /** For segments in {@code fs}, whose copies have at least so many replicas. */
  SegmentCopier(ProcessRuntime runtime, FileSystem fs, int replicasMin) {
    this.runtime = runtime;
    this.fs = fs;
    this.replicasMin = replicasMin;
    this.copies = new Permits(runtime, AT_ONCE);
    this.further = new Permits(runtime, FURTHER_AT_ONCE);
  }

  /** A segment cannot be read, at least not now. */
  static final class UnreadableException extends IOException {
    private static final long serialVersionUID = 1L;

    private UnreadableException(Segment segment, IOException cause) {
      super(segment.path() + " cannot be read: " + cause, cause);
    }
  }

  /**
   * Copies what can be read of a segment to a file in a new directory below its own. Waits while
   * too many others are being copied.
   *
   * @param files make the copy; asked for each attempt
   * @return the copy, closed and on disk
   * @throws UnreadableException if the segment cannot be read, or less of it than there is
   * @throws io.stele.files.TooFewReplicasException if the copy is on fewer nodes than the records
   *     were when they were acknowledged, as it is what counts from now on
   * @throws IOException if the copy cannot be written
   */
  Segment copy(Segment segment, Supplier<DurableFiles> files) throws IOException {
    AtomicBoolean begun = new AtomicBoolean();
    return HedgedCall.first(
        runtime,
        "segment-copy",
        ATTEMPT_PATIENCE,
        ROUNDS_MAX,
        () -> begun.getAndSet(true) ? further(segment, files) : first(segment, files),
        copy -> delete(copy.path().getParent()));
  }

  private Segment first(Segment segment, Supplier<DurableFiles> files) throws IOException {
    try {
      copies.acquire(1);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "copying " + segment.path());
    }
    try {
      return copyNow(segment, files.get());
    } finally {
      copies.release(1);
    }
  }

  /** Does not wait: the attempts before may succeed. */
  private Segment further(Segment segment, Supplier<DurableFiles> files) throws IOException {
    if (!further.tryAcquire(1)) {
      throw new IOException("too many copies hang to begin another of " + segment.path());
    }
    try {
      return copyNow(segment, files.get());
    } finally {
      further.release(1);
    }
  }

  private Segment copyNow(Segment segment, DurableFiles files) throws IOException {
    Path directory =
        new Path(
            segment.path().getParent(), DIRECTORY + Long.toHexString(runtime.random().nextLong()));
    boolean done = false;
    try {
      Path file = new Path(directory, segment.path().getName());
      long bytes = copy(segment, file, files);
      LOG.info("The {} bytes of {} were copied to {}", bytes, segment.path(), file);
      done = true;
      return new Segment(segment.kind(), segment.number(), file, bytes);
    } finally {
      if (!done) {
        delete(directory);
      }
    }
  }

  /** Returns how many bytes were copied. */
  private long copy(Segment segment, Path to, DurableFiles files) throws IOException {
    try (Source source = open(segment); // First: it may be gone, and its directory too.
        DurableFile out = files.createBelow(to)) {
      byte[] buffer =
          new byte[(int) Math.max(BUFFER_BYTES_MIN, Math.min(source.least, BUFFER_BYTES))];
      for (int read = source.read(buffer); read >= 0; read = source.read(buffer)) {
        out.write(buffer, 0, read);
      }
      source.checkEnd();
      out.hsync();
      out.checkReplicas(replicasMin);
      return source.bytes;
    }
  }

  private Source open(Segment segment) throws UnreadableException {
    try {
      NameSpace.catchUp(fs, segment.path());
      return new Source(
          segment, fs.getFileStatus(segment.path()).getLen(), fs.open(segment.path()));
    } catch (IOException e) {
      throw new UnreadableException(segment, e);
    }
  }

  /** A segment that is being read. For one thread. */
  private static final class Source implements Closeable {
    private final Segment segment;

    /**
     * How long the NameNode knows the segment to be, at least. It learns of each block with the
     * first flush to it, so a copy that is shorter lacks a block.
     */
    private final long least;

    private final InputStream in;
    private long bytes;

    Source(Segment segment, long least, InputStream in) {
      this.segment = segment;
      this.least = least;
      this.in = in;
    }

    int read(byte[] buffer) throws UnreadableException {
      try {
        int read = in.read(buffer);
        bytes += Math.max(0, read);
        return read;
      } catch (IOException e) {
        throw new UnreadableException(segment, e);
      }
    }

    void checkEnd() throws UnreadableException {
      if (bytes < least) {
        throw new UnreadableException(
            segment,
            new EOFException("it has " + least + " bytes, of which " + bytes + " are seen"));
      }
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /**
   * Deletes a copy that is not used, and the log's directory if nothing else is there: the log was
   * deleted, and a late attempt has made the directory again.
   */
  private void delete(Path directory) {
    try {
      fs.delete(directory, true);
      Path log = directory.getParent();
      if (fs.exists(log) && fs.listStatus(log).length == 0) {
        fs.delete(log, false);
      }
    } catch (IOException e) {
      LOG.debug("{} goes with the log's directory", directory, e);
    }
  }
}
