package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code stele file verify} of a directory. */
@Timeout(60)
class FileCommandTest {
  @TempDir Path directory;

  /** Files that have lost a block, and files that are deleted while they are being listed. */
  public static final class LossyFiles extends RawLocalFileSystem {
    @Override
    public FSDataInputStream open(org.apache.hadoop.fs.Path file, int bufferSize)
        throws IOException {
      if (file.getName().startsWith("lost")) {
        throw new IOException("Could not obtain block blk_1");
      } else if (file.getName().startsWith("gone")) {
        throw new FileNotFoundException(file.toString());
      }
      return super.open(file, bufferSize);
    }
  }

  private void put(String file) throws IOException {
    Path at = directory.resolve(file);
    Files.createDirectories(at.getParent());
    try (InputStream golden =
        FileCommandTest.class.getResourceAsStream("/io/stele/sstable/golden-1-none.sst")) {
      Files.copy(golden, at);
    }
  }

  private Ran verify() {
    return Ran.of(
        List.of(
            "file",
            "verify",
            directory.toUri().toString(),
            "-D",
            "fs.file.impl=" + LossyFiles.class.getName(),
            "-D",
            "fs.file.impl.disable.cache=true"));
  }

  @Test
  void aFileThatCannotBeReadHidesNoOther() throws Exception {
    put("t1/a/lost-1.sst");
    put("t1/a/sound-1.sst");
    put("t1/b/sound-2.sst");
    put("t1/b/gone-1.sst");
    Ran ran = verify();
    assertThat(ran.err()).isEmpty();
    assertThat(ran.out())
        .containsOnlyOnce("UNREADABLE ")
        .contains("lost-1.sst", "Could not obtain block blk_1", "sound-1.sst", "sound-2.sst")
        .doesNotContain("gone-1.sst")
        .endsWith("2 sound, 0 damaged, 1 unreadable, 1 deleted meanwhile\n");
    assertThat(ran.exit()).isEqualTo(ExitCode.CORRUPTION.number());
  }

  @Test
  void filesThatAreDeletedMeanwhileAreNoFault() throws Exception {
    put("t1/a/sound.sst");
    put("t1/a/gone.sst");
    Ran ran = verify();
    assertThat(ran.out()).endsWith("1 sound, 0 damaged, 1 deleted meanwhile\n");
    assertThat(ran.exit()).isZero();
  }

  @Test
  void damageIsNamedWithItsPlace() throws Exception {
    put("damaged.sst");
    put("sound.sst");
    byte[] bytes = Files.readAllBytes(directory.resolve("damaged.sst"));
    bytes[bytes.length / 3] ^= 1;
    Files.write(directory.resolve("damaged.sst"), bytes);
    Ran ran = verify();
    assertThat(ran.out()).contains("DAMAGED ", "offset ").endsWith("1 sound, 1 damaged\n");
    assertThat(ran.exit()).isEqualTo(ExitCode.CORRUPTION.number());
  }

  @Test
  void aDirectoryWithoutAnyIsNotFound() throws Exception {
    Files.writeString(directory.resolve("other.txt"), "text");
    Ran ran = verify();
    assertThat(ran.err()).contains("no .sst or .log file in ");
    assertThat(ran.exit()).isEqualTo(ExitCode.NOT_FOUND.number());
  }
}
