package io.stele.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.cli.TextTable;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeftFilesTest {
  @Test
  void theirSizeIsSaidAndHowToDeleteThem(@TempDir Path directory) throws Exception {
    Files.write(directory.resolve("one"), new byte[2000]);
    Files.write(Files.createDirectory(directory.resolve("logs")).resolve("two"), new byte[1000]);
    assertThat(LeftFiles.text(directory))
        .isEqualTo(
            "Its files are left in "
                + directory
                + " ("
                + TextTable.size(3000)
                + "). To delete them: rm -r '"
                + directory
                + "'");
  }
}
