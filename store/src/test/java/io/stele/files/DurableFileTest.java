package io.stele.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.Syncable;
import org.junit.jupiter.api.Test;

/** The replicas of files of several blocks. */
class DurableFileTest {
  private static final int BLOCK_BYTES = 10;
  private static final int REPLICATION = 3;

  /** As HDFS does, says of its last block alone how many replicas it has. */
  private static final class Blocks extends OutputStream implements ReplicatedStream, Syncable {
    private int written;
    private int flushed;
    private int replicas;

    @Override
    public void write(int b) {
      if (written % BLOCK_BYTES == 0) {
        replicas = REPLICATION;
      }
      written++;
    }

    @Override
    public int replicas() {
      return written % BLOCK_BYTES == 0 ? REPLICATION : replicas; // Of no block: what it should.
    }

    @Override
    public List<String> nodes() {
      return List.of();
    }

    @Override
    public void hflush() {
      flushed = written;
    }

    @Override
    public void hsync() {
      flushed = written;
    }
  }

  private final Blocks blocks = new Blocks();
  private final DurableFile file =
      new DurableFile(
          new DurableFiles(CrashableFileSystem.create()),
          new Path("/file"),
          new FSDataOutputStream(blocks, null),
          new DurableFile.Blocks(REPLICATION, BLOCK_BYTES));

  @Test
  void aBlockThatEndedWithTooFewReplicasCounts() throws Exception {
    file.write(new byte[5]);
    blocks.replicas = 1;
    file.write(new byte[2 * BLOCK_BYTES]);
    assertThat(file.replicas()).hasValue(REPLICATION);
    assertThatThrownBy(() -> file.checkReplicas(2))
        .isInstanceOf(TooFewReplicasException.class)
        .hasMessageContaining("has only 1 of the 2 replicas");
    file.checkReplicas(1);
  }

  @Test
  void aBlockThatEndsExactlyWhereTheFlushDoesCounts() throws Exception {
    file.write(new byte[5]);
    blocks.replicas = 1;
    file.write(new byte[5]);
    file.hflush();
    assertThatThrownBy(() -> file.checkReplicas(2)).isInstanceOf(TooFewReplicasException.class);
  }

  @Test
  void theReplicasOfABlockAreCountedWhenAllButItsLastByteIsFlushed() throws Exception {
    file.write(new byte[BLOCK_BYTES - 1]);
    assertThat(blocks.flushed).isZero();
    file.write(0);
    assertThat(blocks.flushed).isEqualTo(BLOCK_BYTES - 1);
    file.write(new byte[3 * BLOCK_BYTES]);
    assertThat(blocks.written).isEqualTo(4 * BLOCK_BYTES);
    assertThat(blocks.flushed).isEqualTo(4 * BLOCK_BYTES - 1);
    assertThatCode(() -> file.checkReplicas(2)).doesNotThrowAnyException();
  }

  /** As HDFS's streams do, throws one exception again and again once it has failed. */
  private static final class Failing extends OutputStream implements Syncable {
    private final IOException failure = new IOException("the quota is exceeded");

    @Override
    public void write(int b) {}

    @Override
    public void hflush() throws IOException {
      throw failure;
    }

    @Override
    public void hsync() throws IOException {
      throw failure;
    }

    @Override
    public void close() throws IOException {
      throw failure;
    }
  }

  @Test
  void aTryStatementCanCloseAFileOfWhichAWriteHasFailed() {
    assertThatThrownBy(
            () -> {
              try (DurableFile failing =
                  new DurableFile(
                      new DurableFiles(CrashableFileSystem.create()),
                      new Path("/file"),
                      new FSDataOutputStream(new Failing(), null),
                      new DurableFile.Blocks(REPLICATION, BLOCK_BYTES))) {
                failing.write(new byte[5]);
                failing.hsync();
              }
            })
        .isInstanceOf(IOException.class)
        .hasMessage("the quota is exceeded");
  }
}
