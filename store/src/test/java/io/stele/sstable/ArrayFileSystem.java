package io.stele.sstable;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;

/** One file, whatever its path: an array that a test may change. Counts reads. */
final class ArrayFileSystem extends FilterFileSystem {
  byte[] contents;
  int reads;
  long bytesRead;
  boolean failing;

  /** Reads at a stream's own place, of {@link #reads}; and moves of a place. */
  int readsInPlace;

  int seeks;

  int openStreams;
  boolean failingInPlace;

  /** The file has so many zeros before its last {@link #bytesBehindHole}, not in the array. */
  long holeBytes;

  int bytesBehindHole;

  /** Runs at the start of each read. */
  Runnable beforeRead = () -> {};

  ArrayFileSystem(byte[] contents) throws IOException {
    super(FileSystem.getLocal(new Configuration(false)));
    this.contents = contents;
  }

  long length() {
    return contents.length + holeBytes;
  }

  @Override
  public FileStatus getFileStatus(Path path) {
    return new FileStatus(length(), false, 1, 1 << 20, 0, path);
  }

  @Override
  public FSDataInputStream open(Path path) {
    return new FSDataInputStream(new ArrayStream());
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) {
    return open(path);
  }

  private final class ArrayStream extends FSInputStream {
    private long place;
    private boolean closed;

    ArrayStream() {
      openStreams++;
    }

    @Override
    public void close() {
      openStreams -= closed ? 0 : 1;
      closed = true;
    }

    @Override
    public int read(long position, byte[] buffer, int offset, int length) throws IOException {
      beforeRead.run();
      reads++;
      bytesRead += length;
      if (failing) {
        throw new IOException("this file system only fails");
      }
      if (position < 0) {
        throw new EOFException("negative position");
      }
      long holeAt = contents.length - bytesBehindHole;
      if (position >= holeAt && position < holeAt + holeBytes) {
        int zeros = (int) Math.min(length, holeAt + holeBytes - position);
        Arrays.fill(buffer, offset, offset + zeros, (byte) 0);
        return zeros;
      }
      long at = position < holeAt ? position : position - holeBytes;
      int count = (int) Math.min(length, (at < holeAt ? holeAt : contents.length) - at);
      if (count <= 0) {
        return -1;
      }
      System.arraycopy(contents, (int) at, buffer, offset, count);
      return count;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      readsInPlace++;
      if (failingInPlace) {
        throw new IOException("this place is lost");
      }
      int count = read(place, buffer, offset, length);
      place += Math.max(0, count);
      return count;
    }

    @Override
    public int read() {
      throw new UnsupportedOperationException("only reads of arrays");
    }

    @Override
    public void seek(long position) {
      seeks++;
      place = position;
    }

    @Override
    public long getPos() {
      return place;
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }
  }
}
