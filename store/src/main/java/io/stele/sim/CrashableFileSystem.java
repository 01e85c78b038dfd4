package io.stele.sim;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.files.ReplicatedStream;
import io.stele.runtime.IoCallable;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * One process's view of a {@link CrashableDisk} as a Hadoop file system, scheme {@code crash}. It
 * has the operations that Stele uses, with the semantics of HDFS for hflush, hsync, rename and
 * leases.
 *
 * <p>When the process has crashed, all calls fail forever; its successor mounts the disk again.
 * Safe for use by any number of threads, its streams as Hadoop's are.
 */
public final class CrashableFileSystem extends FileSystem implements LeaseRecoverable {
  private static final URI ROOT = URI.create("crash:///");
  private static final long BLOCK_BYTES = 128L << 20;

  private final CrashableDisk disk;
  private final AtomicInteger openReaders = new AtomicInteger();
  private volatile boolean dead;
  private volatile boolean losesDeleted;
  private volatile Optional<OldNames> old = Optional.empty(); // By which names it is answered.

  /** The only process on a disk of its own; {@link #disk()} gives the disk. */
  public static CrashableFileSystem create() {
    return new CrashableDisk().mount();
  }

  CrashableFileSystem(CrashableDisk disk) {
    this.disk = disk;
    try {
      setConf(new Configuration(false));
      initialize(ROOT, getConf());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The disk under this file system. */
  public CrashableDisk disk() {
    return disk;
  }

  /** How many streams this process has open for reading. */
  public int openReaders() {
    return openReaders.get();
  }

  void die() {
    dead = true;
  }

  @Override
  public URI getUri() {
    return ROOT;
  }

  @Override
  public String getScheme() {
    return "crash";
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    EnumSet<CreateFlag> flags = EnumSet.of(CreateFlag.CREATE);
    if (overwrite) {
      flags.add(CreateFlag.OVERWRITE);
    }
    return create(path, flags, true);
  }

  @Override
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return create(path, flags, false);
  }

  private FSDataOutputStream create(Path path, EnumSet<CreateFlag> flags, boolean recursive)
      throws IOException {
    Path file = makeQualified(path);
    return change(
        Operation.CREATE,
        file,
        () ->
            new FSDataOutputStream(
                new Writer(file, disk.create(file, flags, recursive, this)), null));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    Path file = makeQualified(path);
    return perform(
        Operation.OPEN, file, () -> new FSDataInputStream(new Reader(file, disk.open(file))));
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw new UnsupportedOperationException("a closed file is never written again");
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    Path target = makeQualified(to);
    return change(Operation.RENAME, makeQualified(from), () -> disk.rename(from, target));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return change(Operation.DELETE, makeQualified(path), () -> disk.delete(path, recursive));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return perform(Operation.LIST, makeQualified(path), () -> seen(path)).stream()
        .map(this::status)
        .toArray(FileStatus[]::new);
  }

  private List<OldNames.Seen> seen(Path directory) throws IOException {
    Optional<OldNames> names = old;
    return names.isPresent()
        ? names.get().list(CrashableDisk.key(directory))
        : disk.list(directory);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return perform(
        Operation.STATUS,
        makeQualified(path),
        () -> {
          Optional<OldNames> names = old;
          return status(
              names.isPresent() ? names.get().status(CrashableDisk.key(path)) : disk.status(path));
        });
  }

  /**
   * Makes {@link #getFileStatus} and {@link #listStatus} answer, from now on, as they would at this
   * moment, or that of this process's own last change of a name or {@link #msync}: as by a NameNode
   * that only observes and is behind. Or no more.
   */
  void answerFromOldNames(boolean now) {
    old = now ? Optional.of(disk.names()) : Optional.empty();
  }

  @Override
  public void msync() throws IOException {
    change(Operation.STATUS, new Path(ROOT), () -> true);
  }

  /** As {@link #perform}; what the process sees later is not older than this. */
  private <T> T change(Operation operation, Path path, IoCallable<T> action) throws IOException {
    try {
      return perform(operation, path, action);
    } finally {
      old = old.map(before -> disk.names());
    }
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return change(Operation.MKDIRS, makeQualified(path), () -> disk.mkdirs(path));
  }

  @Override
  public boolean recoverLease(Path path) throws IOException {
    checkAlive();
    return disk.recoverLease(path);
  }

  @Override
  public boolean isFileClosed(Path path) throws IOException {
    checkAlive();
    return disk.isClosed(path);
  }

  @Override
  public short getDefaultReplication(Path path) {
    return CrashableDisk.REPLICATION;
  }

  @Override
  public void setWorkingDirectory(Path directory) {
    if (!directory.isRoot()) {
      throw new UnsupportedOperationException("paths here are absolute");
    }
  }

  @Override
  public Path getWorkingDirectory() {
    return new Path(ROOT);
  }

  private FileStatus status(OldNames.Seen seen) {
    return new FileStatus(
        seen.length(),
        seen.node().directory,
        1,
        BLOCK_BYTES,
        seen.node().modifiedMillis,
        disk.named(seen.path(), name -> makeQualified(new Path(name))));
  }

  private void checkAlive() throws IOException {
    if (dead) {
      throw new IOException("Filesystem closed"); // As HDFS says to who goes on after closing it.
    }
  }

  private <T> T perform(Operation operation, Path path, IoCallable<T> action) throws IOException {
    checkAlive();
    Optional<FaultInjector.Effect> effect = disk.fault(operation, path);
    if (effect.isPresent()) {
      if (effect.get() instanceof FaultInjector.Effect.Delay delay) {
        delay.meanwhile().run();
      } else {
        if (effect.get() instanceof FaultInjector.Effect.FailAfter) {
          checkAlive();
          action.call();
        }
        throw new IOException("injected: " + operation + " of " + path);
      }
    }
    checkAlive();
    return action.call();
  }

  /** Writes one file. */
  private final class Writer extends OutputStream
      implements Syncable, StreamCapabilities, ReplicatedStream {
    private final Path path;
    private final CrashableDisk.Node node;
    private boolean closed;

    Writer(Path path, CrashableDisk.Node node) {
      this.path = path;
      this.node = node;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      checkAlive();
      Optional<FaultInjector.Effect> effect = disk.fault(Operation.WRITE, path);
      int allowed = length;
      if (effect.isPresent()) {
        FaultInjector.Effect fault = effect.get();
        if (fault instanceof FaultInjector.Effect.Delay delay) {
          delay.meanwhile().run();
          effect = Optional.empty();
        } else if (fault instanceof FaultInjector.Effect.Short part) {
          allowed = Math.min(length, part.bytes());
        } else if (fault instanceof FaultInjector.Effect.Fail) {
          allowed = 0;
        }
      }
      checkAlive();
      disk.write(node, CrashableFileSystem.this, bytes, offset, allowed);
      if (effect.isPresent()) {
        throw new IOException(
            "injected: write of " + length + " bytes to " + path + " took " + allowed);
      }
    }

    @Override
    public void hflush() throws IOException {
      flush(false);
    }

    @Override
    public void hsync() throws IOException {
      flush(true);
    }

    @Override
    public int replicas() {
      return disk.replicas(node);
    }

    @Override
    public List<String> nodes() {
      return List.of(disk.firstNode(node));
    }

    private void flush(boolean sync) throws IOException {
      perform(
          Operation.FLUSH,
          path,
          () -> {
            disk.flush(node, CrashableFileSystem.this, sync);
            return true;
          });
    }

    @Override
    public void close() throws IOException {
      if (!closed) {
        closed = true;
        change(
            Operation.CLOSE,
            path,
            () -> {
              disk.close(node, CrashableFileSystem.this);
              return true;
            });
      }
    }

    @Override
    @SuppressWarnings("deprecation") // HFLUSH: who asks for it gets an answer.
    public boolean hasCapability(String capability) {
      return disk.flushable()
          && (capability.equalsIgnoreCase(StreamCapabilities.HFLUSH)
              || capability.equalsIgnoreCase(StreamCapabilities.HSYNC));
    }
  }

  /**
   * Makes reads of files that were opened and then deleted fail, as they do in HDFS once the blocks
   * are gone. Otherwise they go on, as in a local file system, and in HDFS for a while.
   */
  public void loseDeletedFiles() {
    losesDeleted = true;
  }

  /** Reads one file, as far as it was visible when it was opened. */
  private final class Reader extends FSInputStream {
    private final Path path;
    private final CrashableDisk.Node node;
    private final int end;

    @GuardedBy("this")
    private long position;

    @GuardedBy("this")
    private boolean closed;

    Reader(Path path, CrashableDisk.Node node) {
      this.path = path;
      this.node = node;
      this.end = disk.visible(node);
      openReaders.incrementAndGet();
    }

    @Override
    public synchronized int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public synchronized int read(byte[] target, int offset, int length) throws IOException {
      int count = read(position, target, offset, length);
      if (count > 0) {
        position += count;
      }
      return count;
    }

    @Override
    public int read(long at, byte[] target, int offset, int length) throws IOException {
      checkAlive();
      Optional<FaultInjector.Effect> effect = disk.fault(Operation.READ, path);
      int allowed = length;
      if (effect.isPresent()) {
        if (effect.get() instanceof FaultInjector.Effect.Delay delay) {
          delay.meanwhile().run();
        } else if (effect.get() instanceof FaultInjector.Effect.Short part) {
          allowed = Math.min(length, Math.max(1, part.bytes()));
        } else {
          throw new IOException("injected: read of " + path + " at " + at);
        }
      }
      checkAlive();
      if (length == 0) {
        return 0;
      }
      if (at >= end) {
        return -1;
      }
      if (losesDeleted && disk.isDeleted(node)) {
        throw new IOException(path + " was deleted, and its blocks are gone");
      }
      int count = disk.read(node, at, target, offset, (int) Math.min(allowed, end - at));
      return count == 0 ? -1 : count;
    }

    @Override
    public synchronized int available() {
      return (int) Math.max(0, end - position);
    }

    @Override
    public synchronized void seek(long to) throws IOException {
      if (to < 0 || to > end) {
        throw new EOFException("cannot seek to " + to + " of " + path + ", which has " + end);
      }
      position = to;
    }

    @Override
    public synchronized long getPos() {
      return position;
    }

    @Override
    public synchronized void close() throws IOException {
      if (!closed) {
        closed = true;
        openReaders.decrementAndGet(); // Whatever becomes of it: a reader leaves nothing behind.
        perform(Operation.CLOSE, path, () -> true);
      }
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }
  }
}
