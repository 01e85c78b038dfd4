package io.stele.files;

import io.stele.config.Keys;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.Path;

/**
 * A file being written, made by {@link DurableFiles}. Closing it promises nothing: call {@link
 * #hsync} first.
 *
 * <p>Not safe for use by several threads.
 */
public final class DurableFile extends OutputStream {
  /** A local file is written through memory outside the heap, as large as what is written. */
  private static final int WRITE_BYTES_MAX = 1 << 20;

  private final DurableFiles files;
  private final Path path;
  private final FSDataOutputStream out;
  private final int replication;
  private boolean nameSynced;

  DurableFile(DurableFiles files, Path path, FSDataOutputStream out, int replication) {
    this.files = files;
    this.path = path;
    this.out = out;
    this.replication = replication;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      for (int done = 0; done < length; done += WRITE_BYTES_MAX) {
        out.write(bytes, offset + done, Math.min(WRITE_BYTES_MAX, length - done));
      }
    } catch (FSError e) {
      throw asIo(e);
    }
  }

  /** What was written survives the death of this process, and of all replicas but one. */
  public void hflush() throws IOException {
    try {
      out.hflush();
    } catch (FSError e) {
      throw asIo(e);
    }
  }

  /** What was written, and the file's name, is on disk at every replica. */
  public void hsync() throws IOException {
    try {
      out.hsync();
    } catch (FSError e) {
      throw asIo(e);
    }
    if (!nameSynced) {
      files.syncNamesIn(path.getParent());
      nameSynced = true;
    }
  }

  /**
   * How many bytes the file system checks together: a chunk. If more is written to a chunk after
   * {@link #hsync}, HDFS writes its checksum anew, and if all replicas then lose power, it may drop
   * the whole chunk. So whoever writes on after hsync should begin a chunk. 1: there are none.
   */
  public int chunkBytes() {
    return files.chunkBytes();
  }

  /** How many replicas the file is to have. */
  public int replication() {
    return replication;
  }

  /** How many replicas the block being written has now; empty if the file system does not say. */
  public OptionalInt replicas() throws IOException {
    Optional<ReplicatedStream> stream = replicated();
    return stream.isPresent() ? OptionalInt.of(stream.get().replicas()) : OptionalInt.empty();
  }

  /**
   * Checks that the block being written is on enough nodes, as far as the file system says.
   *
   * @throws TooFewReplicasException if it is on fewer than {@code least}, and on fewer than the
   *     file is to have
   */
  public void checkReplicas(int least) throws IOException {
    int wanted = Math.min(least, replication);
    OptionalInt replicas = replicas();
    if (replicas.isPresent() && replicas.getAsInt() < wanted) {
      throw new TooFewReplicasException(
          path
              + " has only "
              + replicas.getAsInt()
              + " of the "
              + wanted
              + " replicas that it needs ("
              + Keys.LOG_REPLICAS_MIN.name()
              + "): DataNodes are missing");
    }
  }

  /** The node with the first replica of that block; empty if the file system does not say. */
  public Optional<String> firstNode() {
    return replicated().flatMap(ReplicatedStream::firstNode);
  }

  private Optional<ReplicatedStream> replicated() {
    return out.getWrappedStream() instanceof ReplicatedStream stream
        ? Optional.of(stream)
        : HdfsStream.of(out);
  }

  @Override
  public void close() throws IOException {
    try {
      out.close();
    } catch (FSError e) {
      throw asIo(e);
    }
  }

  /** What local files throw in place of an IOException. */
  private static IOException asIo(FSError e) {
    return e.getCause() instanceof IOException cause ? cause : new IOException(e);
  }
}
