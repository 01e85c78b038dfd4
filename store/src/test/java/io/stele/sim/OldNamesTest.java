package io.stele.sim;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.files.NameSpace;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One process writes files; another sees their names as they are, or as they were. */
class OldNamesTest {
  private static final Path DIRECTORY = new Path("crash:/d");
  private static final Path KEPT = new Path("crash:/d/kept");
  private static final Path DELETED = new Path("crash:/d/deleted");
  private static final Path RENAMED = new Path("crash:/d/renamed");
  private static final Path NEW_NAME = new Path("crash:/d/z");
  private static final Path NEW = new Path("crash:/d/new");
  private static final Path OWN = new Path("crash:/own");

  private final CrashableDisk disk = new CrashableDisk();
  private final CrashableFileSystem writer = disk.mount();
  private final CrashableFileSystem reader = disk.mount();
  private FSDataOutputStream growing; // KEPT.

  @BeforeEach
  void threeFiles() throws IOException {
    for (Path file : List.of(DELETED, RENAMED)) {
      write(writer, file, "old");
    }
    growing = writer.create(KEPT, false);
    growing.write("old".getBytes(UTF_8));
    growing.hflush();
  }

  @Test
  void aProcessThatIsNotBehindSeesEveryChangeAtOnce() throws IOException {
    change();
    assertSeesNow();
  }

  @Test
  void aProcessThatIsBehindSeesNamesAndLengthsAsTheyWere() throws IOException {
    reader.answerFromOldNames(true);
    change();
    assertSeesThen();
    assertThatThrownBy(() -> reader.getFileStatus(NEW)).isInstanceOf(FileNotFoundException.class);
    assertThat(reader.getFileStatus(DELETED).getLen()).isEqualTo(3);
    assertThat(names(writer)).containsExactly("kept", "new", "z"); // It alone is behind.
  }

  @Test
  void whatItHasSeenDoesNotChangeByItself() throws IOException {
    reader.answerFromOldNames(true);
    assertSeesThen();
    change();
    assertSeesThen();
    write(writer, new Path(DIRECTORY, "newer"), "");
    assertSeesThen();
  }

  @Test
  void aProcessThatAsksForAllThereIsSeesWhatOthersDidUntilThen() throws IOException {
    reader.answerFromOldNames(true);
    change();
    reader.msync();
    assertSeesNow();
    writer.delete(NEW, false);
    assertSeesNow(); // And nothing later.
  }

  @Test
  void soDoesOneBehindAMountTable() throws IOException {
    FileSystem mounts =
        new FilterFileSystem(reader) {
          @Override
          public void msync() {
            throw new UnsupportedOperationException("as ViewFileSystem does");
          }
        };
    reader.answerFromOldNames(true);
    change();
    NameSpace.catchUp(mounts, new Path(NEW, "is/not/there"));
    assertSeesNow();
  }

  @Test
  void aProcessSeesItsOwnChangesAndAllBeforeThem() throws IOException {
    reader.answerFromOldNames(true);
    change();
    write(reader, OWN, "own");
    assertSeesNow();
    assertThat(reader.getFileStatus(OWN).isFile()).isTrue();
  }

  @Test
  void aProcessThatHasCaughtUpSeesEveryChangeAtOnceAgain() throws IOException {
    reader.answerFromOldNames(true);
    change();
    reader.answerFromOldNames(false);
    assertSeesNow();
    writer.delete(NEW, false);
    assertThat(names(reader)).containsExactly("kept", "z");
  }

  @Test
  void aFileAndADirectoryWithinAreListedAsTheyWere() throws IOException {
    Path inner = new Path("crash:/d/inner/file");
    write(writer, inner, "");
    reader.answerFromOldNames(true);
    writer.delete(inner.getParent(), true);
    assertThat(names(reader)).containsExactly("deleted", "inner", "kept", "renamed");
    assertThat(reader.listStatus(inner.getParent())).hasSize(1);
    assertThat(reader.listStatus(inner)).hasSize(1);
    assertThat(reader.listStatus(new Path("crash:/"))).hasSize(1);
  }

  private void change() throws IOException {
    growing.write("er".getBytes(UTF_8));
    growing.close();
    writer.delete(DELETED, false);
    writer.rename(RENAMED, NEW_NAME);
    write(writer, NEW, "new");
  }

  private void assertSeesThen() throws IOException {
    assertThat(names(reader)).containsExactly("deleted", "kept", "renamed");
    assertThat(reader.getFileStatus(KEPT).getLen()).isEqualTo(3);
  }

  private void assertSeesNow() throws IOException {
    assertThat(names(reader)).containsExactly("kept", "new", "z");
    assertThat(reader.getFileStatus(KEPT).getLen()).isEqualTo(5);
    assertThatThrownBy(() -> reader.getFileStatus(DELETED))
        .isInstanceOf(FileNotFoundException.class);
  }

  private static List<String> names(CrashableFileSystem process) throws IOException {
    return Arrays.stream(process.listStatus(DIRECTORY))
        .map(FileStatus::getPath)
        .map(Path::getName)
        .toList();
  }

  private static void write(CrashableFileSystem process, Path file, String text)
      throws IOException {
    try (FSDataOutputStream out = process.create(file, false)) {
      out.write(text.getBytes(UTF_8));
    }
  }
}
