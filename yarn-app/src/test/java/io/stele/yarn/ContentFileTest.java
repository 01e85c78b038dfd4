package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.sim.CrashableDisk;
import java.io.IOException;
import java.io.InputStream;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.BlockMissingException;
import org.junit.jupiter.api.Test;

class ContentFileTest {
  private static final Path TARGET = new Path("/stele/yarn/content-1234");
  private static final byte[] CONTENT = new byte[100_000];

  static {
    new Random(1).nextBytes(CONTENT);
  }

  private final CrashableDisk disk = new CrashableDisk();

  /** Puts the file by a writer that closes what it writes to, as one of archives does. */
  private static boolean put(FileSystem fs) throws IOException {
    return ContentFile.put(
        fs,
        TARGET,
        FsPermission.getFileDefault(),
        out -> {
          out.write(CONTENT);
          out.close();
        });
  }

  private void assertWhole() throws IOException {
    try (InputStream in = disk.mount().open(TARGET)) {
      assertThat(in.readAllBytes()).isEqualTo(CONTENT);
    }
  }

  @Test
  void whatWasPutOutlivesALossOfPower() throws IOException {
    assertThat(put(disk.mount())).isTrue();
    assertThat(disk.unsyncedBytes(TARGET)).isZero();
    disk.powerLoss(new Random(1));
    assertWhole();
    assertThat(put(disk.mount())).as("it is there").isFalse();
    assertWhole();
  }

  @Test
  void whatHasLostItsBytesIsWrittenAgain() throws IOException {
    put(disk.mount());
    disk.truncate(TARGET, 0);
    assertThat(put(disk.mount())).isTrue();
    assertWhole();
  }

  @Test
  void whatNoDataNodeHasNowIsLeftAsItIs() throws IOException {
    put(disk.mount());
    FileSystem broken =
        new FilterFileSystem(disk.mount()) {
          @Override
          public FSDataInputStream open(Path path, int bufferSize) throws IOException {
            throw new BlockMissingException(path.toString(), "planted", 0);
          }
        };
    assertThatThrownBy(() -> put(broken)).hasMessageContaining("no DataNode has now");
    assertWhole();
  }
}
