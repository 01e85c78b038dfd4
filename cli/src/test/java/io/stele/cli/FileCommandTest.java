package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code stele file verify} of a directory. */
@Timeout(60)
class FileCommandTest {
  @TempDir Path directory;

  /**
   * Files that have lost a block, that are deleted while they are being listed, or that are being
   * written; and a file whose reader loses the NameNode.
   */
  public static final class LossyFiles extends RawLocalFileSystem implements LeaseRecoverable {
    private boolean isAway;

    @Override
    public FSDataInputStream open(org.apache.hadoop.fs.Path file, int bufferSize)
        throws IOException {
      if (file.getName().startsWith("lost")) {
        throw new IOException("Could not obtain block blk_1");
      } else if (file.getName().startsWith("gone")) {
        throw new FileNotFoundException(file.toString());
      } else if (file.getName().startsWith("last")) {
        isAway = true;
        throw new ConnectException("Connection refused");
      } else if (file.getName().startsWith("growing")) {
        Files.write(Path.of(file.toUri()), new byte[1], StandardOpenOption.APPEND);
      }
      return super.open(file, bufferSize);
    }

    @Override
    public FileStatus getFileStatus(org.apache.hadoop.fs.Path file) throws IOException {
      if (isAway) {
        throw new ConnectException("Connection refused");
      }
      return super.getFileStatus(file);
    }

    @Override
    public boolean recoverLease(org.apache.hadoop.fs.Path file) {
      throw new UnsupportedOperationException("a check changes nothing");
    }

    @Override
    public boolean isFileClosed(org.apache.hadoop.fs.Path file) {
      return !file.getName().startsWith("open");
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
    return Ran.of(command("verify", ""));
  }

  private List<String> command(String name, String file) {
    return List.of(
        "file",
        name,
        directory.resolve(file).toUri().toString(),
        "-D",
        "fs.file.impl=" + LossyFiles.class.getName(),
        "-D",
        "fs.file.impl.disable.cache=true");
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

  private void cut(String file) throws IOException {
    byte[] bytes = Files.readAllBytes(directory.resolve(file));
    Files.write(directory.resolve(file), Arrays.copyOf(bytes, bytes.length / 3));
  }

  @Test
  void anSSTableThatIsBeingWrittenIsNotDamaged() throws Exception {
    put("t1/a/open-1.sst");
    cut("t1/a/open-1.sst");
    Files.write(directory.resolve("t1/a/open-2.sst"), new byte[0]);
    put("t1/a/growing.sst");
    cut("t1/a/growing.sst");
    put("t1/a/open-whole.sst");
    Ran ran = verify();
    assertThat(ran.out())
        .contains("unfinished ", "open-1.sst", "open-2.sst", "growing.sst")
        .doesNotContain("DAMAGED")
        .endsWith("1 sound, 0 damaged, 3 being written\n");
    assertThat(ran.exit()).isZero();

    Ran dumped = Ran.of(command("dump", "t1/a/open-1.sst"));
    assertThat(dumped.out()).contains("it is being written");
    assertThat(dumped.exit()).isZero();
  }

  @Test
  void aNameNodeThatDoesNotAnswerIsNoDamage() throws Exception {
    put("last-1.sst");
    put("sound.sst");
    Ran ran = verify();
    assertThat(ran.err()).contains("does not answer", "Connection refused");
    assertThat(ran.out()).doesNotContain("UNREADABLE");
    assertThat(ran.exit()).isEqualTo(ExitCode.RETRY_LATER.number());
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
