package io.stele.files;

import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
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
        holder(fs, resolved.toUri())
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

  /** What recovers leases, or is local, among {@code fs} and what is behind it. */
  private static Optional<FileSystem> holder(FileSystem fs, URI resolved) {
    if (fs instanceof LeaseRecoverable || fs instanceof RawLocalFileSystem) {
      return Optional.of(fs);
    }
    if (fs instanceof FilterFileSystem filter) {
      return holder(filter.getRawFileSystem(), resolved);
    }
    FileSystem[] mounted = fs.getChildFileSystems();
    return (mounted == null ? List.<FileSystem>of() : Arrays.asList(mounted))
        .stream()
            .filter(child -> isOf(child.getUri(), resolved))
            .flatMap(child -> holder(child, resolved).stream())
            .findFirst();
  }

  private static boolean isOf(URI fileSystem, URI file) {
    return Objects.equals(fileSystem.getScheme(), file.getScheme())
        && Objects.equals(fileSystem.getAuthority(), file.getAuthority());
  }

  /** Whether there are none, as the files are local. */
  public boolean isLocal() {
    return leases.isEmpty();
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
