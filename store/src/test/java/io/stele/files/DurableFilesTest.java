package io.stele.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.sim.CrashableFileSystem;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableFilesTest {
  private static final Path FILE = new Path("/a/file");
  private static final int BYTES = 20_000; // Several blocks of a crashable disk.

  private final CrashableFileSystem fs = CrashableFileSystem.create();

  private static byte[] contents() {
    byte[] bytes = new byte[BYTES];
    new Random(1).nextBytes(bytes);
    return bytes;
  }

  private byte[] afterPowerLoss() throws IOException {
    fs.disk().powerLoss(new Random(2));
    return fs.disk().mount().open(FILE).readAllBytes();
  }

  @Test
  void everyBlockOfASyncedFileSurvivesALossOfPower() throws Exception {
    try (DurableFile file = new DurableFiles(fs).createBelow(FILE)) {
      file.write(contents());
      file.hsync();
    }
    assertThat(afterPowerLoss()).isEqualTo(contents());
  }

  @Test
  void whatWasOnlyClosedMayBeLost() throws Exception {
    try (DurableFile file = new DurableFiles(fs).createBelow(FILE)) {
      file.write(contents());
    }
    assertThat(afterPowerLoss()).hasSizeLessThan(BYTES);
  }

  @Test
  void aFileSystemWithChecksumFilesIsWrittenThroughTheOneBelowIt() throws Exception {
    LocalFileSystem local = new LocalFileSystem(fs);
    try (DurableFile file = new DurableFiles(local).createBelow(FILE)) {
      file.write(contents());
      file.hsync();
    }
    assertThat(local.open(FILE).readAllBytes()).isEqualTo(contents());
    assertThat(afterPowerLoss()).isEqualTo(contents());
  }

  @Test
  void filesOnALocalDiskAreSyncedInDirectoriesMadeForThem(@TempDir File directory)
      throws Exception {
    Configuration conf = new Configuration(false);
    conf.set("fs.permissions.umask-mode", "027");
    LocalFileSystem local = FileSystem.newInstanceLocal(conf);
    Path path = new Path(directory.toURI().toString(), "a/b/file");
    try (DurableFile file = new DurableFiles(local).createBelow(path)) {
      file.write(contents());
      file.hsync();
    }
    assertThat(local.open(path).readAllBytes()).isEqualTo(contents());
    assertThat(local.listStatus(path.getParent())).hasSize(1);
    assertThat(local.getFileStatus(path).getPermission()).hasToString("rw-r-----");
    local.close();
  }

  @Test
  void aFileSystemThatCannotSyncIsRefusedAndNothingIsLeft() throws Exception {
    fs.mkdirs(FILE.getParent());
    fs.disk().withoutFlush();
    assertThatThrownBy(() -> new DurableFiles(fs).create(FILE))
        .isInstanceOf(NotDurableException.class)
        .hasMessageContaining("does not support hflush and hsync")
        .hasMessageContaining("stele.root.dir");
    assertThat(fs.exists(FILE)).isFalse();
  }

  @Test
  void nothingIsOverwrittenAndNoDirectoryComesBackUnasked() throws Exception {
    DurableFiles files = new DurableFiles(fs);
    assertThatThrownBy(() -> files.create(FILE)).isInstanceOf(FileNotFoundException.class);
    files.createBelow(FILE).close();
    assertThatThrownBy(() -> files.createBelow(FILE))
        .isInstanceOf(FileAlreadyExistsException.class);
  }
}
