package io.stele.files;

import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * The leases that writers have on the files of one directory: recovering one takes the file from
 * its writer, whose next flush fails.
 *
 * <p>They are those of the file system that really holds the directory, behind a mount table
 * (ViewFS) and behind whatever filters the calls. The local file system has none: its processes are
 * on one machine. A file system that is neither is refused, as nothing would stop a server that was
 * taken for dead.
 *
 * <p>Immutable; safe for use by any number of threads.
 */
public final class WriteLeases {
  private final Optional<LeaseRecoverable> leases; // Empty on the local file system.
  private final Path directory; // As the holder of the leases names it.

  private WriteLeases(Optional<LeaseRecoverable> leases, Path directory) {
    this.leases = leases;
    this.directory = directory;
  }

  /**
   * The leases on the files in {@code directory}, which exists.
   *
   * @throws NotDurableException if they cannot be recovered
   */
  public static WriteLeases in(FileSystem fs, Path directory) throws IOException {
    Path resolved = fs.resolvePath(directory);
    FileSystem holder =
        Mounts.find(
                fs,
                resolved.toUri(),
                one -> one instanceof LeaseRecoverable || one instanceof RawLocalFileSystem)
            .orElseThrow(
                () ->
                    new NotDurableException(
                        directory
                            + " of "
                            + fs.getUri()
                            + " is on a file system that cannot recover the lease of a dead writer,"
                            + " so a server believed dead could go on writing: put the root"
                            + " directory (stele.root.dir) on HDFS or another file system that can"));
    return new WriteLeases(
        holder instanceof LeaseRecoverable recoverable
            ? Optional.of(recoverable)
            : Optional.empty(),
        holder == fs ? directory : resolved);
  }

  /**
   * Whether the file of that name is closed, so that no writer can change it.
   *
   * @throws java.io.FileNotFoundException if there is none
   */
  public boolean isClosed(String file) throws IOException {
    return leases.isEmpty() || leases.get().isFileClosed(new Path(directory, file));
  }

  /**
   * Begins to take the file of that name from its writer.
   *
   * @return whether it is closed already
   * @throws java.io.FileNotFoundException if there is none
   */
  public boolean recover(String file) throws IOException {
    return leases.isEmpty() || leases.get().recoverLease(new Path(directory, file));
  }
}
