package io.stele.log;

import io.stele.files.NameSpace;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fences a dead server's log: {@link #rename}s it, then {@link #close}s its segments. After that no
 * write of that process is acknowledged, however late it wakes; everything acknowledged before is
 * kept.
 *
 * <p>First the directory is renamed, so that no new segment can be created in it; then the lease of
 * every segment is recovered, so that the next flush of an open one fails; when all are closed,
 * they are listed for replay ({@link FencedLog}). A segment that its server has not ended in order
 * is copied, and the copy listed: so what is listed is on disk, on enough nodes, including the
 * records that were about to be acknowledged ({@link SegmentCopier}). If the process is known to
 * have ended, nobody waits until HDFS has closed such a segment; if its lease is over, nobody waits
 * for long. Nor does anybody wait for a segment that HDFS does not close if an operator has
 * accepted its loss. Each step may be repeated, by another master too: a fence that was interrupted
 * is called again.
 *
 * <p>The server may still hold its lock, and may still answer reads until its lease is over; its
 * tablets must not be given to others before that. Safe for use by any number of threads.
 */
public final class LogFence {
  private static final Logger LOG = LoggerFactory.getLogger(LogFence.class);

  /**
   * How many segments of one log are read at once. A few of these reads may wait for a host that is
   * gone, so there are more than are needed otherwise.
   */
  private static final int READERS = 16;

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final SegmentCopier copier;

  /**
   * A fence for the logs in {@code fs}.
   *
   * @param replicasMin how many replicas a copy of a segment must have, as the segments had
   */
  public LogFence(ProcessRuntime runtime, FileSystem fs, int replicasMin) {
    this.runtime = runtime;
    this.fs = fs;
    this.copier = new SegmentCopier(runtime, fs, replicasMin);
  }

  /**
   * Renames {@code directory} to {@code fenced}: no segment can be created any more.
   *
   * @param directory {@code logs/<serverId>}
   * @param fenced {@code recovery/<serverId>}; the directory above it is made
   * @return {@code fenced}; empty if the server had no log directory
   * @throws IOException if it failed: call again
   */
  public Optional<Path> rename(Path directory, Path fenced) throws IOException {
    NameSpace.catchUp(fs, directory); // Another master may have fenced it, or begun to.
    boolean renamedBefore = fs.exists(fenced);
    if (fs.exists(directory)) {
      if (renamedBefore) {
        deleteEmpty(directory, fenced);
        return Optional.of(fenced);
      }
      fs.mkdirs(fenced.getParent());
      if (!fs.rename(directory, fenced) && !fs.exists(fenced)) {
        throw new IOException("cannot rename " + directory + " to " + fenced);
      }
    } else if (!renamedBefore && !fs.exists(fenced)) { // Else another has renamed it just now.
      return Optional.empty();
    }
    return Optional.of(fenced);
  }

  /**
   * HDFS's client repeats the creation of a directory if the NameNode fails over, which may bring
   * back the old name, empty. Segments are not created in a directory that is not there.
   */
  private void deleteEmpty(Path directory, Path fenced) throws IOException {
    if (fs.listStatus(directory).length > 0) {
      throw new IOException(
          "both "
              + directory
              + " and "
              + fenced
              + " exist: a log directory was created again after"
              + " it was fenced. Inspect both before you delete either. If the server never had its"
              + " lock (its log then says nothing of being ready), delete the first");
    }
    if (fs.delete(directory, false)) {
      LOG.warn("Deleted {}: it was created again, and empty, after it was fenced", directory);
    }
  }

  /**
   * Returns when every segment in {@code fenced}, which was renamed, is closed or copied, and the
   * list of them is written: nothing of that server is acknowledged any more.
   *
   * @param owner the server
   * @param meanwhile done once after HDFS was asked to close the segments, before this waits for
   *     that; not done if the list is there already. It must not wait for anything
   * @throws IOException if a step failed, or the thread was interrupted: call again
   */
  public void close(Path fenced, LogOwner owner, Runnable meanwhile) throws IOException {
    if (!FencedLog.isListed(fs, fenced)) {
      SegmentClosing closing;
      Map<String, Segment> listedAs;
      try (WorkerPool readers = runtime.pool("segment-reader", READERS)) {
        closing = new SegmentClosing(runtime, fs, fenced, owner, copier, readers);
        listedAs = closing.closeAll(meanwhile);
      }
      NameSpace.catchUp(fs, fenced); // The DataNodes have closed them, not this process.
      if (!fs.exists(fenced)) {
        throw new FileNotFoundException(
            fenced + " is gone: another master has deleted that log, which nothing needs");
      }
      FencedLog.list(runtime, fs, closing.files(), fenced, listedAs);
    }
  }
}
