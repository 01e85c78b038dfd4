package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.viewfs.ViewFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobInputTest {
  @TempDir Path directory;

  /** Another file system by default: one of a directory, mounted as {@code /data}. */
  private Configuration conf() throws Exception {
    Configuration conf = new Configuration(false);
    Files.createDirectory(directory.resolve("cluster"));
    conf.set("fs.defaultFS", "viewfs://test/");
    conf.set(
        "fs.viewfs.mounttable.test.link./data", directory.resolve("cluster").toUri().toString());
    conf.set("fs.viewfs.impl", ViewFileSystem.class.getName());
    conf.set("fs.file.impl", LocalFileSystem.class.getName());
    return conf;
  }

  private static org.apache.hadoop.fs.Path path(Path file) {
    return new org.apache.hadoop.fs.Path(file.toString());
  }

  @Test
  void filesThatAreOnlyOnThisMachineAreNamedWithWhatToDo() throws Exception {
    Configuration conf = conf();
    Path pages = Files.createFile(directory.resolve("pages.csv"));
    assertThatThrownBy(() -> JobInput.require(path(pages), conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContainingAll(
            "there is no viewfs://test" + pages,
            pages + " is on this machine",
            "`hdfs dfs -put " + pages + " DIR`",
            "file:" + pages)
        .extracting(e -> ((SteleException) e).code())
        .isEqualTo(SteleException.Code.NOT_FOUND);
    assertThatThrownBy(() -> JobInput.require(path(directory.resolve("*.csv")), conf))
        .hasMessageContaining("is on this machine");
  }

  @Test
  void filesOfTheClusterAndThoseThatAreNowhereAreLeftToTheJob() throws Exception {
    Configuration conf = conf();
    Files.createFile(directory.resolve("cluster").resolve("pages.csv"));
    Path local = Files.createFile(directory.resolve("pages.csv"));
    for (String files :
        new String[] {"/data/pages.csv", "/nowhere/pages.csv", "file:" + local, "/data/*.csv"}) {
      assertThatCode(() -> JobInput.require(new org.apache.hadoop.fs.Path(files), conf))
          .as(files)
          .doesNotThrowAnyException();
    }
  }
}
