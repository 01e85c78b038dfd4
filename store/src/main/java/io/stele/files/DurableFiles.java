package io.stele.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.ChecksumFileSystem;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Creates every file that must outlive a loss of power: SSTables, segments of the commit log, and
 * what names the root directory. What {@link DurableFile#hsync} has returned for is on disk, and so
 * are the names that lead to it. A file system that cannot promise that is refused.
 *
 * <p><b>HDFS</b> syncs with hsync only the block being written. So files are created with {@link
 * CreateFlag#SYNC_BLOCK}, by which a DataNode syncs each block when it ends. Their blocks are
 * replicated whatever the directory's erasure coding says ({@link CreateFlag#SHOULD_REPLICATE}):
 * hflush and hsync do nothing for a striped block. Names are durable once the NameNode has
 * answered.
 *
 * <p>The <b>local</b> file system with checksum files cannot sync, and says so; the raw one under
 * it can, and files are written through that. Reading them through either is right: a file without
 * a checksum file is not checked, and ours have checksums of their own. Directories are synced too,
 * as a file without its name is lost.
 *
 * <p>Immutable; safe for use by any number of threads.
 */
public final class DurableFiles {
  private static final int BUFFER_BYTES = 64 << 10;
  private static final short OWNER_ONLY = 0600;
  private static final int MADE_MAX = 5;
  private static final String CLOSED = "Filesystem closed"; // HDFS has no type for it.

  /** Where the first replica of a file's blocks is. */
  public enum Placement {
    /** On the writer's own node, if that has a DataNode. */
    NEAR,
    /** On any node. */
    ANYWHERE
  }

  private final FileSystem fs;
  private final List<String> preferred;

  /** Files in {@code fs}. */
  public DurableFiles(FileSystem fs) {
    this(fs instanceof ChecksumFileSystem checked ? checked.getRawFileSystem() : fs, List.of());
  }

  private DurableFiles(FileSystem fs, List<String> preferred) {
    this.fs = fs;
    this.preferred = preferred;
  }

  /**
   * Files that HDFS puts on some of {@code nodes}, as far as it can, and on others where it cannot.
   * Behind a mount table, and on other file systems, they are anywhere.
   *
   * @param nodes as {@link DurableFile#nodes} names them, the best first; none: anywhere
   */
  public DurableFiles preferring(List<String> nodes) {
    return new DurableFiles(fs, List.copyOf(nodes));
  }

  /**
   * A new, empty file near the writer; see {@link #create(Path, Placement)}.
   *
   * @throws FileNotFoundException if its directory is missing
   * @throws org.apache.hadoop.fs.FileAlreadyExistsException if it exists
   * @throws NotDurableException if the file system cannot flush and sync
   */
  public DurableFile create(Path file) throws IOException {
    return create(file, Placement.NEAR);
  }

  /**
   * A new, empty file. Directories above it are not made, so that what was renamed is not brought
   * back; and none is overwritten.
   *
   * @throws FileNotFoundException if its directory is missing
   * @throws org.apache.hadoop.fs.FileAlreadyExistsException if it exists
   * @throws NotDurableException if the file system cannot flush and sync
   */
  public DurableFile create(Path file, Placement placement) throws IOException {
    return create(file, placement, permission(FsPermission.getFileDefault()));
  }

  /** As {@link #create(Path)}; the file is its owner's alone to read and write. */
  public DurableFile createPrivate(Path file) throws IOException {
    return create(file, Placement.NEAR, new FsPermission(OWNER_ONLY));
  }

  /** Whether a call failed because this process has closed the file system, which stays so. */
  public static boolean saysClosed(IOException failure) {
    return CLOSED.equals(failure.getMessage());
  }

  private DurableFile create(Path file, Placement placement, FsPermission permission)
      throws IOException {
    EnumSet<CreateFlag> flags =
        EnumSet.of(CreateFlag.CREATE, CreateFlag.SYNC_BLOCK, CreateFlag.SHOULD_REPLICATE);
    switch (placement) {
      case NEAR -> {}
      case ANYWHERE -> flags.add(CreateFlag.IGNORE_CLIENT_LOCALITY);
    }
    DurableFile.Blocks blocks =
        new DurableFile.Blocks(fs.getDefaultReplication(file), fs.getDefaultBlockSize(file));
    Optional<FSDataOutputStream> onPreferred = createOnPreferred(file, permission, blocks);
    FSDataOutputStream out =
        onPreferred.isPresent()
            ? onPreferred.get()
            : fs.createNonRecursive(
                file,
                permission,
                flags,
                BUFFER_BYTES,
                (short) blocks.replication(),
                blocks.bytes(),
                null);
    if (!canSync(out)) {
      out.close();
      fs.delete(file, false);
      throw new NotDurableException(
          fs.getUri()
              + " does not support hflush and hsync, so acknowledged writes could be lost: put the root"
              + " directory (stele.root.dir) on HDFS or another file system that does");
    }
    return new DurableFile(this, file, out, blocks);
  }

  /** With the flags that others have, but for where the first replica is; empty if not on HDFS. */
  private Optional<FSDataOutputStream> createOnPreferred(
      Path file, FsPermission permission, DurableFile.Blocks blocks) throws IOException {
    Optional<FSDataOutputStreamBuilder<?, ?>> builder =
        preferred.isEmpty() ? Optional.empty() : HdfsStream.preferring(fs, file, preferred);
    if (builder.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        builder
            .get()
            .permission(permission)
            .bufferSize(BUFFER_BYTES)
            .replication((short) blocks.replication())
            .blockSize(blocks.bytes())
            .build());
  }

  /** How many bytes of a file the file system checks together; 1 if it has no checksums. */
  int chunkBytes() {
    return fs instanceof RawLocalFileSystem ? 1 : HdfsClientDefaults.chunkBytes(fs.getConf());
  }

  /**
   * As {@link #create(Path)}, and makes the directories above it where they are missing. If one of
   * them is {@linkplain #deleteIfEmpty deleted} before the file is in it, it is made again.
   */
  public DurableFile createBelow(Path file) throws IOException {
    for (int made = 0; made < MADE_MAX; made++) {
      try {
        return create(file);
      } catch (FileNotFoundException e) {
        mkdirs(file.getParent());
      }
    }
    return create(file);
  }

  /** Makes a directory, and those above it that are missing. */
  public void mkdirs(Path directory) throws IOException {
    List<Path> missing = new ArrayList<>();
    if (fs instanceof RawLocalFileSystem) {
      for (Path at = directory; at != null && !fs.exists(at); at = at.getParent()) {
        missing.add(at);
      }
    }
    if (!fs.mkdirs(directory)) {
      throw new IOException("cannot create the directory " + directory);
    }
    for (Path made : missing) {
      syncNamesIn(made.getParent());
    }
  }

  /** The names in {@code directory} are on disk when this returns. */
  public void syncNamesIn(Path directory) throws IOException {
    if (fs instanceof RawLocalFileSystem local) {
      try (FileChannel channel =
          FileChannel.open(local.pathToFile(directory).toPath(), StandardOpenOption.READ)) {
        channel.force(true);
      }
    } // On other file systems the NameNode's journal, or its equivalent, has them.
  }

  /**
   * Gives a file a name that no file has yet, in one step: of several at once the first wins.
   *
   * <p>Locally a rename would overwrite. There the file gets its new name as a second one, and then
   * loses the old one: so delete such files with {@link #deleteUnlessRenamed}.
   *
   * @return whether it was done; if false, there is a file of that name, or the file system has
   *     another reason
   * @throws FileNotFoundException if there is no file to rename
   */
  public boolean renameToNew(Path from, Path to) throws IOException {
    if (!(fs instanceof RawLocalFileSystem local)) {
      return fs.rename(from, to); // HDFS overwrites nothing.
    }
    java.nio.file.Path source = local.pathToFile(from).toPath();
    try {
      Files.createLink(local.pathToFile(to).toPath(), source);
      Files.deleteIfExists(source); // Or deleteUnlessRenamed has taken it away.
      syncNamesIn(to.getParent());
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    } catch (NoSuchFileException e) {
      FileNotFoundException missing = new FileNotFoundException(from + " does not exist");
      missing.initCause(e);
      throw missing;
    }
  }

  /**
   * Deletes a file to which {@link #renameToNew} may give its new name at the same moment, or did
   * in a process that ended in between.
   *
   * @return whether this has deleted it; if false, it has its new name, or there is none
   */
  public boolean deleteUnlessRenamed(Path file) throws IOException {
    if (!(fs instanceof RawLocalFileSystem local)) {
      return fs.delete(file, false);
    }
    java.nio.file.Path name = local.pathToFile(file).toPath();
    java.nio.file.Path aside = name.resolveSibling(name.getFileName() + "-deleted");
    try {
      Files.move(name, aside, StandardCopyOption.ATOMIC_MOVE); // Nobody can link it any more.
      boolean isAlone = (int) Files.getAttribute(aside, "unix:nlink") == 1;
      Files.delete(aside);
      return isAlone;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /**
   * Deletes a directory in one step, unless something is in it. What comes into it at the same
   * moment stays, or is refused with {@link FileNotFoundException}.
   *
   * @return whether this has deleted it; if false, it is not empty, or there is none
   */
  public boolean deleteIfEmpty(Path directory) throws IOException {
    try {
      return fs instanceof RawLocalFileSystem local // Its own delete looks first, then deletes all.
          ? Files.deleteIfExists(local.pathToFile(directory).toPath())
          : fs.delete(directory, false);
    } catch (DirectoryNotEmptyException | PathIsNotEmptyDirectoryException e) {
      return false;
    }
  }

  private FsPermission permission(FsPermission usual) {
    // HDFS applies the mask itself, and must see the rest for the directory's access control list.
    return fs instanceof RawLocalFileSystem
        ? usual.applyUMask(FsPermission.getUMask(fs.getConf()))
        : usual;
  }

  @SuppressWarnings("deprecation") // Hadoop names hsync for both; what is called is hflush too.
  private static boolean canSync(FSDataOutputStream out) {
    return out.hasCapability(StreamCapabilities.HFLUSH)
        && out.hasCapability(StreamCapabilities.HSYNC);
  }
}
