package io.stele.log;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;

/** A stream that reads another, of which a test overrides a part. */
class ForwardingInput extends FSInputStream {
  final FSDataInputStream in;

  ForwardingInput(FSDataInputStream in) {
    this.in = in;
  }

  @Override
  public int read(long position, byte[] to, int offset, int length) throws IOException {
    return in.read(position, to, offset, length);
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    return in.read(to, offset, length);
  }

  @Override
  public int read() throws IOException {
    return in.read();
  }

  @Override
  public void seek(long position) throws IOException {
    in.seek(position);
  }

  @Override
  public long getPos() throws IOException {
    return in.getPos();
  }

  @Override
  public boolean seekToNewSource(long position) throws IOException {
    return in.seekToNewSource(position);
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
