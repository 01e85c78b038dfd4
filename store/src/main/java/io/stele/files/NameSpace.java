package io.stele.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a process sees of a file system's names: which files there are, and how long.
 *
 * <p>Reads of an HDFS with Observer NameNodes may be answered from an older state. Such an answer
 * is never older than this process's own changes, but may be older than those of others, which is
 * what recovery and garbage collection decide by.
 */
public final class NameSpace {
  private static final Logger LOG = LoggerFactory.getLogger(NameSpace.class);

  private NameSpace() {}

  /**
   * Makes every later answer to this process reflect all changes made until now. Call it between
   * learning of something and looking for it, and before anything is decided by what is
   * <em>not</em> there. Costs one call of the NameNode, and another behind a mount table (ViewFS).
   *
   * @param path what is looked for, or a directory above it
   */
  public static void catchUp(FileSystem fs, Path path) throws IOException {
    try {
      fs.msync();
    } catch (UnsupportedOperationException e) {
      catchUpBehind(fs, path);
    }
  }

  /** A mount table does not pass the call on. */
  private static void catchUpBehind(FileSystem fs, Path path) throws IOException {
    Optional<FileSystem> holder =
        Mounts.find(fs, resolved(fs, path), one -> one instanceof LeaseRecoverable);
    if (holder.isPresent() && holder.get() != fs) {
      holder.get().msync();
    } else {
      LOG.trace("{} has no stale reads to guard against", fs.getUri());
    }
  }

  /** Where {@code path} is, or is to be, behind the mount table. */
  private static URI resolved(FileSystem fs, Path path) throws IOException {
    Path existing = path;
    while (true) {
      try {
        return fs.resolvePath(existing).toUri();
      } catch (FileNotFoundException e) {
        if (existing.getParent() == null) {
          throw e;
        }
        existing = existing.getParent();
      }
    }
  }
}
