package io.stele.tablet;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SSTables that compactions of a tablet began and will never commit. Their deletion is retried
 * until they are gone: the master's sweep does not touch files of the current epoch, because one of
 * them may be about to be committed.
 *
 * <p>Safe for use by any number of threads; nothing is locked while files are deleted.
 */
final class AbandonedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(AbandonedFiles.class);

  private final FileSystem fs;

  @GuardedBy("paths")
  private final Set<Path> paths = new TreeSet<>();

  AbandonedFiles(FileSystem fs) {
    this.fs = fs;
  }

  /** No record names {@code path}, nor ever will. */
  void add(Path path) {
    synchronized (paths) {
      paths.add(path);
    }
  }

  /** Whether there are none. */
  boolean isEmpty() {
    synchronized (paths) {
      return paths.isEmpty();
    }
  }

  /** Deletes them; those that cannot be deleted now are kept for the next time. */
  void delete() {
    List<Path> all;
    synchronized (paths) {
      all = new ArrayList<>(paths);
    }
    for (Path path : all) {
      try {
        fs.delete(path, false); // False where it is gone, or never came to be.
        synchronized (paths) {
          paths.remove(path);
        }
      } catch (IOException e) {
        LOG.info("Cannot delete the unused file {} yet; will retry: {}", path, e.toString());
      }
    }
  }
}
