package io.stele.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.sim.CrashableFileSystem;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableFilesTest {
  private static final Path FILE = new Path("/a/file");
  private static final int BYTES = 20_000; // Several blocks of a crashable disk.

  private static final int ROUNDS = 200;

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
  void aFileThatIsGivenANewNameOverwritesNoOtherOnALocalFileSystemEither(@TempDir File scratch)
      throws Exception {
    FileSystem local = LocalFilesInProcess.withChecksums();
    DurableFiles files = new DurableFiles(local);
    for (int round = 0; round < ROUNDS; round++) {
      Path to = new Path(scratch.toString(), "to" + round);
      List<CompletableFuture<Boolean>> renames = new ArrayList<>();
      CyclicBarrier start = new CyclicBarrier(2);
      for (int i = 0; i < 2; i++) {
        Path from = new Path(scratch.toString(), "from" + i);
        try (DurableFile file = files.create(from)) {
          file.write(i);
        }
        renames.add(CompletableFuture.supplyAsync(() -> rename(files, start, from, to)));
      }
      boolean first = renames.get(0).get();
      assertThat(renames.get(1).get()).isEqualTo(!first);
      assertThat(local.open(to).readAllBytes()).containsExactly(first ? 0 : 1);
      Path won = new Path(scratch.toString(), first ? "from0" : "from1");
      assertThat(local.exists(won)).isFalse();
      assertThatThrownBy(() -> files.renameToNew(won, new Path(won + "-more")))
          .isInstanceOf(FileNotFoundException.class);
      Path lost = new Path(scratch.toString(), first ? "from1" : "from0");
      assertThat(local.delete(lost, false)).isTrue();
    }
  }

  private static boolean rename(DurableFiles files, CyclicBarrier start, Path from, Path to) {
    try {
      start.await();
      return files.renameToNew(from, to);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Another process deletes it at the same moment. */
  @Test
  void aLocalFileIsEitherDeletedOrHasItsNewName(@TempDir File scratch) throws Exception {
    FileSystem local = LocalFilesInProcess.withChecksums();
    DurableFiles files = new DurableFiles(local);
    for (int round = 0; round < ROUNDS; round++) {
      Path from = new Path(scratch.toString(), "from");
      Path to = new Path(scratch.toString(), "to" + round);
      files.create(from).close();
      CyclicBarrier start = new CyclicBarrier(2);
      CompletableFuture<Boolean> deleted =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  start.await();
                  return files.deleteUnlessRenamed(from);
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              });
      boolean renamed;
      start.await();
      try {
        renamed = files.renameToNew(from, to);
      } catch (FileNotFoundException e) {
        renamed = false;
      }
      assertThat(deleted.get()).isEqualTo(!renamed);
      assertThat(local.exists(to)).isEqualTo(renamed);
      assertThat(scratch.list((directory, name) -> name.startsWith("from"))).isEmpty();
    }
  }

  @Test
  void aLocalFileThatHasItsNewNameAndItsOldOneLosesTheOldOneOnly(@TempDir File scratch)
      throws Exception {
    DurableFiles files = new DurableFiles(FileSystem.getLocal(new Configuration(false)));
    Path from = new Path(scratch.toString(), "from");
    files.create(from).close();
    Files.createLink(scratch.toPath().resolve("to"), scratch.toPath().resolve("from"));
    assertThat(files.renameToNew(from, new Path(scratch.toString(), "to"))).isFalse();
    assertThat(files.deleteUnlessRenamed(from)).isFalse();
    assertThat(scratch.list()).containsExactly("to");
    assertThat(files.deleteUnlessRenamed(new Path(scratch.toString(), "to"))).isTrue();
    assertThat(files.deleteUnlessRenamed(from)).isFalse();
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

  @Test
  void aDirectoryThatIsDeletedBeforeTheFileIsInItIsMadeAgain() throws Exception {
    AtomicInteger deletions = new AtomicInteger();
    FileSystem swept =
        new FilterFileSystem(fs) {
          @Override
          public boolean mkdirs(Path directory) throws IOException {
            boolean made = super.mkdirs(directory);
            if (deletions.getAndIncrement() == 0) {
              assertThat(new DurableFiles(fs).deleteIfEmpty(directory)).isTrue();
            }
            return made;
          }
        };
    new DurableFiles(swept).createBelow(FILE).close();
    assertThat(fs.exists(FILE)).isTrue();
    assertThat(deletions).hasValue(2);
  }

  @Test
  void onlyAnEmptyDirectoryIsDeleted(@TempDir File directory) throws Exception {
    LocalFileSystem local = FileSystem.newInstanceLocal(new Configuration(false));
    Path onDisk = new Path(directory.toURI().toString(), "a/file");
    for (FileSystem one : List.of(fs, local)) {
      Path file = one == fs ? FILE : onDisk;
      DurableFiles files = new DurableFiles(one);
      files.createBelow(file).close();
      assertThat(files.deleteIfEmpty(file.getParent())).isFalse();
      assertThat(one.exists(file)).isTrue();
      one.delete(file, false);
      assertThat(files.deleteIfEmpty(file.getParent())).isTrue();
      assertThat(one.exists(file.getParent())).isFalse();
      assertThat(files.deleteIfEmpty(file.getParent())).isFalse();
    }
    local.close();
  }
}
