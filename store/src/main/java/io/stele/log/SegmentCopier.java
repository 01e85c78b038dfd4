package io.stele.log;

import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.files.NameSpace;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the open segments of a process that has ended. HDFS closes such a file seconds later, with
 * a DataNode's next heartbeat, or much later if a DataNode of its pipeline is gone too.
 *
 * <p><b>Why nothing is lost.</b> A DataNode counts bytes as acknowledged before it tells so to the
 * one before it, and the first before it tells the writer. So a reader that opens the file after
 * its writer has ended, and asks any one of them, is told a length that has all that was flushed.
 * It may see more; so may a later reader, or less of that. Therefore the copy is what counts from
 * then on, and the segment is not read any more ({@link FencedLog}).
 *
 * <p>Do not use it for a writer that may be alive: it goes on unhindered. Immutable; safe for use
 * by any number of threads.
 */
final class SegmentCopier {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCopier.class);
  private static final int BUFFER_BYTES = 1 << 20;

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final int replicasMin;

  /** For segments in {@code fs}, whose copies have at least so many replicas. */
  SegmentCopier(ProcessRuntime runtime, FileSystem fs, int replicasMin) {
    this.runtime = runtime;
    this.fs = fs;
    this.replicasMin = replicasMin;
  }

  /**
   * Copies what can be read of a segment to a file in a new directory below its own.
   *
   * @param open whose writer has ended
   * @return the copy, closed and on disk; empty if the segment has to be closed first
   */
  Optional<Segment> copy(Segment open) {
    Path directory =
        new Path(open.path().getParent(), "copy." + Long.toHexString(runtime.random().nextLong()));
    try {
      long known = length(open);
      Path file = new Path(directory, open.path().getName());
      long bytes = copy(open.path(), file);
      if (bytes >= known) {
        LOG.info("{} is not closed yet: its {} bytes were copied to {}", open.path(), bytes, file);
        return Optional.of(new Segment(open.kind(), open.number(), file, bytes));
      }
      LOG.info("{} is not closed yet, and its last block cannot be seen", open.path());
    } catch (IOException e) {
      LOG.info("{} is not closed yet, and cannot be copied: {}", open.path(), e.toString());
    }
    delete(directory);
    return Optional.empty();
  }

  /**
   * How long the NameNode knows a segment to be, at least. It learns of each block with the first
   * flush to it, so a copy that is shorter lacks a block.
   */
  private long length(Segment open) throws IOException {
    NameSpace.catchUp(fs, open.path());
    return fs.getFileStatus(open.path()).getLen();
  }

  /**
   * How many bytes were copied.
   *
   * @throws io.stele.files.TooFewReplicasException if the copy is on fewer nodes than the records
   *     were when they were acknowledged, as it is what counts from now on
   */
  private long copy(Path from, Path to) throws IOException {
    DurableFiles files = new DurableFiles(fs);
    files.mkdirs(to.getParent());
    long length = 0;
    try (InputStream in = fs.open(from);
        DurableFile out = files.create(to)) {
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        out.write(buffer, 0, read);
        length += read;
      }
      out.hsync();
      out.checkReplicas(replicasMin);
    }
    return length;
  }

  private void delete(Path directory) {
    try {
      fs.delete(directory, true);
    } catch (IOException e) {
      LOG.debug("{} goes with the log's directory", directory, e);
    }
  }
}
