package io.stele.master;

import io.stele.files.DurableFiles;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what one sweep finds unneeded, one thing after the other. What cannot be deleted is
 * logged and counted, and does not hold up anything else.
 *
 * <p>One thread at a time.
 */
final class Deletions {
  private static final Logger LOG = LoggerFactory.getLogger(Deletions.class);
  private static final int LOGGED_MAX = 10;

  /** What became of a deletion. */
  enum Result {
    DELETED,
    /** Nothing was there, or a directory is not empty. */
    NOTHING,
    FAILED
  }

  private final FileSystem fs;
  private final DurableFiles files;
  private int failed;

  /** None yet. */
  Deletions(FileSystem fs) {
    this.fs = fs;
    this.files = new DurableFiles(fs);
  }

  /** Deletes a file, or a directory with all that is in it. */
  Result delete(Path path) throws IOException {
    return tried(path, () -> fs.delete(path, true));
  }

  /** Deletes a file. */
  Result deleteFile(Path file) throws IOException {
    return tried(file, () -> fs.delete(file, false));
  }

  /** Deletes a directory if it is empty. */
  Result deleteIfEmpty(Path directory) throws IOException {
    return tried(directory, () -> files.deleteIfEmpty(directory));
  }

  /** How many deletions failed. */
  int failed() {
    return failed;
  }

  /** Says so if not everything could be deleted. */
  void end() {
    if (failed > 0) {
      LOG.warn(
          "This sweep is not complete: {} files and directories that nothing needs cannot be deleted",
          failed);
    }
  }

  /** Throws only if the sweep must end. */
  private Result tried(Path path, IoCallable<Boolean> deletion) throws IOException {
    try {
      return deletion.call() ? Result.DELETED : Result.NOTHING;
    } catch (IOException e) {
      if (Futures.isInterruption(e) || DurableFiles.saysClosed(e)) {
        throw e;
      }
      if (failed++ < LOGGED_MAX) {
        LOG.warn(
            "{} is not needed and cannot be deleted, which is tried again with each sweep: give the"
                + " store's user the right to it, remove what protects it, such as a snapshot, or"
                + " delete it. {}",
            path,
            e.toString());
      } else {
        LOG.debug("{} cannot be deleted", path, e);
      }
      return Result.FAILED;
    }
  }

  /** Says that the store's user may not read a directory; others are still swept. */
  static void notListed(Path directory, AccessControlException why) {
    LOG.warn(
        "{} cannot be read, so nothing in it is deleted; each sweep tries again. Give the store's user"
            + " the right to read it. {}",
        directory,
        why.getMessage());
  }
}
