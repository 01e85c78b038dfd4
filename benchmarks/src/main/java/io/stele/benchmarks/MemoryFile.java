package io.stele.benchmarks;

import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;

/** A file system with one file, in an array, that can be read at positions: no disk is measured. */
final class MemoryFile extends FilterFileSystem {
  private final byte[] contents;

  MemoryFile(byte[] contents) throws IOException {
    super(FileSystem.getLocal(new Configuration(false)));
    this.contents = contents;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) {
    return new FSDataInputStream(new Input());
  }

  private final class Input extends FSInputStream {
    private long position;

    @Override
    public int read(long at, byte[] buffer, int offset, int length) throws IOException {
      if (at < 0) {
        throw new EOFException("position " + at);
      }
      int count = (int) Math.min(length, contents.length - at);
      if (count <= 0) {
        return -1;
      }
      System.arraycopy(contents, (int) at, buffer, offset, count);
      return count;
    }

    @Override
    public int read() {
      return position < contents.length ? contents[(int) position++] & 0xff : -1;
    }

    @Override
    public void seek(long to) {
      position = to;
    }

    @Override
    public long getPos() {
      return position;
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }
  }
}
