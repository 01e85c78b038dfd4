package io.stele.files;

import io.stele.config.Keys;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.Path;

/**
 * A file being written, made by {@link DurableFiles}. Closing it promises nothing: call {@link
 * #hsync} first.
 *
 * <p>HDFS says of the block being written alone how many replicas it has. So before the last byte
 * of a block is written, all others are flushed and the replicas counted.
 *
 * <p>Not safe for use by several threads.
 */
public final class DurableFile extends OutputStream {
  /** A local file is written through memory outside the heap, as large as what is written. */
  private static final int WRITE_BYTES_MAX = 1 << 20;

  private final DurableFiles files;
  private final Path path;
  private final FSDataOutputStream out;
  private final Blocks blocks;
  private long position;
  private int fewestOfEndedBlocks = Integer.MAX_VALUE; // More than there can be: none ended.
  private boolean nameSynced;
  private Optional<IOException> failure = Optional.empty(); // The last one of a write or a sync.

  /**
   * What the file's blocks are to be.
   *
   * @param replication how many replicas each is to have
   * @param bytes how long each is, except the last
   */
  record Blocks(int replication, long bytes) {}

  DurableFile(DurableFiles files, Path path, FSDataOutputStream out, Blocks blocks) {
    this.files = files;
    this.path = path;
    this.out = out;
    this.blocks = blocks;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      int done = 0;
      while (done < length) {
        long beforeLast = blocks.bytes() - 1 - position % blocks.bytes();
        if (beforeLast == 0) {
          countReplicas();
        }
        long next = beforeLast == 0 ? 1 : Math.min(beforeLast, WRITE_BYTES_MAX);
        int part = (int) Math.min(next, length - done);
        out.write(bytes, offset + done, part);
        done += part;
        position += part;
      }
    } catch (IOException e) {
      throw failed(e);
    } catch (FSError e) {
      throw failed(asIo(e));
    }
  }

  /** Counts the replicas of what was written to a block that ends. */
  private void countReplicas() throws IOException {
    if (replicated().isPresent()) {
      out.hflush();
      fewestOfEndedBlocks = fewestReplicas();
    }
  }

  /** What was written survives the death of this process, and of all replicas but one. */
  public void hflush() throws IOException {
    try {
      out.hflush();
    } catch (IOException e) {
      throw failed(e);
    } catch (FSError e) {
      throw failed(asIo(e));
    }
  }

  /** What was written, and the file's name, is on disk at every replica. */
  public void hsync() throws IOException {
    try {
      out.hsync();
    } catch (IOException e) {
      throw failed(e);
    } catch (FSError e) {
      throw failed(asIo(e));
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
    return blocks.replication();
  }

  /** How many replicas the block being written has now; empty if the file system does not say. */
  public OptionalInt replicas() throws IOException {
    Optional<ReplicatedStream> stream = replicated();
    return stream.isPresent() ? OptionalInt.of(stream.get().replicas()) : OptionalInt.empty();
  }

  /**
   * Checks that what was flushed is on enough nodes, as far as the file system says: the block
   * being written now, and those before it when they ended.
   *
   * @throws TooFewReplicasException if one is on fewer than {@code least}, and on fewer than the
   *     file is to have
   */
  public void checkReplicas(int least) throws IOException {
    if (!hasReplicas(least)) {
      throw new TooFewReplicasException(
          path
              + " has only "
              + fewestReplicas()
              + " of the "
              + Math.min(least, replication())
              + " replicas that it needs ("
              + Keys.LOG_REPLICAS_MIN.name()
              + "): DataNodes are missing");
    }
  }

  /** Whether {@link #checkReplicas} finds enough. */
  public boolean hasReplicas(int least) throws IOException {
    return fewestReplicas() >= Math.min(least, replication());
  }

  /** Of any block so far; more than there can be if the file system does not say. */
  private int fewestReplicas() throws IOException {
    return Math.min(fewestOfEndedBlocks, replicas().orElse(fewestOfEndedBlocks));
  }

  /**
   * The nodes with that block, as {@code host:port}, in the order in which they get the data; none
   * if the file system does not say.
   */
  public List<String> nodes() {
    return replicated().map(ReplicatedStream::nodes).orElse(List.of());
  }

  private Optional<ReplicatedStream> replicated() {
    return out.getWrappedStream() instanceof ReplicatedStream stream
        ? Optional.of(stream)
        : HdfsStream.of(out);
  }

  private IOException failed(IOException e) {
    failure = Optional.of(e);
    return e;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // Is it the same one?
  public void close() throws IOException {
    try {
      out.close();
    } catch (IOException e) {
      // HDFS throws what a write threw once more, and Java cannot add an exception to itself, as it
      // does where a try statement closes the file.
      throw failure.isPresent() && failure.get() == e
          ? new IOException("closing after a write has failed: " + e.getMessage(), e)
          : e;
    } catch (FSError e) {
      throw asIo(e);
    }
  }

  /** What local files throw in place of an IOException. */
  private static IOException asIo(FSError e) {
    return e.getCause() instanceof IOException cause ? cause : new IOException(e);
  }
}
