package io.stele.sstable;

import io.stele.model.CorruptionException;
import io.stele.runtime.Futures;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;

/**
 * A file read at positions by any number of threads through one stream. Safe for use by any number
 * of threads.
 *
 * <p>The stream's own place in the file belongs to one reader at a time, who goes straight on from
 * it: on HDFS every read at a position is a request to a DataNode, while what follows the place is
 * already on its way.
 */
final class StoredFile implements Closeable {
  /** A local file is read through memory outside the heap, which each thread keeps for the next. */
  private static final int READ_BYTES_MAX = 1 << 20;

  private final FileSystem fs;
  private final Path path;
  private final long length;
  private final IdleReadaheads idle;
  private volatile FSDataInputStream stream;
  private final AtomicBoolean placeTaken = new AtomicBoolean();
  private volatile boolean closed;

  private StoredFile(FileSystem fs, Path path, long length, IdleReadaheads idle)
      throws IOException {
    this.fs = fs;
    this.path = path;
    this.length = length;
    this.idle = idle;
    this.stream = fs.open(path);
  }

  /**
   * Opens a file.
   *
   * @param idle where scans leave their read-aheads between pages
   */
  static StoredFile open(FileSystem fs, Path path, long length, IdleReadaheads idle)
      throws IOException {
    return new StoredFile(fs, path, length, idle);
  }

  Path path() {
    return path;
  }

  long length() {
    return length;
  }

  /** Reads exactly {@code count} bytes at {@code position}. */
  void readFully(long position, byte[] buffer, int offset, int count) throws IOException {
    FSDataInputStream current = stream;
    try {
      read(current, position, buffer, offset, count);
    } catch (ClosedByInterruptException e) {
      throw e; // This reader is the one to end.
    } catch (ClosedChannelException e) {
      // A local file's channel is closed for all when one of its readers is interrupted.
      read(reopened(current), position, buffer, offset, count);
    }
  }

  /** Takes the stream's place; false: another reader has it, or a scan has left it. */
  boolean takeFreePlace() {
    return placeTaken.compareAndSet(false, true);
  }

  /** Takes the stream's place, also from a scan that has left it; false: another reader has it. */
  boolean takePlace() {
    if (takeFreePlace()) {
      return true;
    }
    idle.drop(this);
    return takeFreePlace();
  }

  /** Takes the read-ahead of a scan that goes on at {@code offset}. */
  Optional<Readahead> takeLeft(long offset) {
    return idle.take(this, offset);
  }

  /** Keeps the read-ahead of a scan that may go on, or closes it. */
  void leave(Readahead readahead) {
    idle.leave(this, readahead);
  }

  /** Gives the stream's place back, and the connection that it has to a DataNode. */
  void leavePlace() {
    FSDataInputStream current = stream;
    try {
      if (current.hasCapability(StreamCapabilities.UNBUFFER)) {
        current.unbuffer();
      }
    } finally {
      placeTaken.set(false);
    }
  }

  /**
   * Reads exactly {@code count} bytes at {@code position}, and leaves the stream's place after
   * them; for whoever has taken it.
   */
  void readOn(long position, byte[] buffer, int offset, int count) throws IOException {
    try {
      FSDataInputStream current = stream;
      if (current.getPos() != position) {
        current.seek(position);
      }
      current.readFully(buffer, offset, count);
    } catch (ClosedByInterruptException e) {
      throw e; // This reader is the one to end.
    } catch (IOException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      readInsteadOf(e, position, buffer, offset, count);
    } catch (RuntimeException e) {
      readInsteadOf(e, position, buffer, offset, count);
    }
  }

  /** What failed says nothing about reads at positions, which know what to do about it. */
  private void readInsteadOf(Exception failed, long position, byte[] buffer, int offset, int count)
      throws IOException {
    try {
      readFully(position, buffer, offset, count);
    } catch (IOException | RuntimeException e) {
      if (e != failed) {
        e.addSuppressed(failed);
      }
      throw e;
    }
  }

  private void read(FSDataInputStream from, long position, byte[] buffer, int offset, int count)
      throws IOException {
    if (closed) {
      throw new IOException(path + " is closed");
    }
    try {
      for (int done = 0; done < count; done += READ_BYTES_MAX) {
        int part = Math.min(READ_BYTES_MAX, count - done);
        from.readFully(position + done, buffer, offset + done, part);
      }
    } catch (EOFException e) {
      throw corrupt(position, "the file ends before byte " + (position + count));
    } catch (ChecksumException e) {
      throw corrupt(position, "the file system found damage: " + e.getMessage());
    } catch (FSError e) { // What local files throw in place of an IOException.
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e);
    } catch (ClosedChannelException e) {
      throw e; // Not the file's failure.
    } catch (IOException e) {
      throw Futures.isInterruption(e) ? e : unreadable(position, e);
    } catch (RuntimeException e) {
      if (closed) {
        throw new IOException(path + " was closed during a read", e);
      }
      throw e;
    }
  }

  /** Names the file: not every error of HDFS does. */
  private IOException unreadable(long position, IOException why) {
    return new IOException("cannot read " + path + " at offset " + position + ": " + why, why);
  }

  /** Damage at {@code offset} of this file. */
  CorruptionException corrupt(long offset, String detail) {
    return new CorruptionException(path.toString(), offset, detail);
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() throws IOException {
    FSDataInputStream last;
    synchronized (this) {
      closed = true;
      last = stream;
    }
    idle.drop(this);
    last.close();
  }

  /** A stream in place of {@code broken}; of those that several readers open one is kept. */
  private FSDataInputStream reopened(FSDataInputStream broken) throws IOException {
    if (stream == broken && !closed) {
      FSDataInputStream opened = fs.open(path);
      if (!replace(broken, opened)) {
        opened.close();
      }
    }
    if (closed) {
      throw new IOException(path + " is closed");
    }
    return stream;
  }

  private synchronized boolean replace(FSDataInputStream broken, FSDataInputStream opened) {
    boolean wanted = stream == broken && !closed;
    if (wanted) {
      stream = opened;
    }
    return wanted;
  }
}
