package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FencedLogTest {
  private static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  private static final Path FENCED = new Path("crash:/recovery/" + SERVER);
  private static final Path LIST = new Path(FENCED, "SEGMENTS");
  private static final LogOptions SMALL = LogOptions.DEFAULT.withSegmentBytes(200);

  private static final Path OTHER = new Path("crash:/logs/other,1,1");
  private static final Path OTHER_FENCED = new Path("crash:/recovery/other,1,1");

  private final CrashableFileSystem fs = CrashableFileSystem.create();

  @BeforeEach
  void writeAndFence() throws Exception {
    LogDirectory.create(fs, DIRECTORY);
    CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, DIRECTORY, SERVER, TabletKind.USER),
            SMALL,
            failure -> {});
    for (int i = 1; i <= 10; i++) {
      log.append(record(TABLET, i, 100)).get();
    }
    log.close();
    fence();
  }

  private void fence() throws IOException {
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, fs.disk().mount()), DIRECTORY, FENCED);
  }

  private static List<LogRecord> read(FileSystem fs) throws IOException {
    return all(WholeLog.readFenced(fs, FENCED, TabletKind.USER));
  }

  private Path lastSegment() throws IOException {
    List<Segment> segments = FencedLog.segments(fs, FENCED, TabletKind.USER);
    return segments.get(segments.size() - 1).path();
  }

  private String list() throws IOException {
    try (FSDataInputStream in = fs.open(LIST)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void changeList(UnaryOperator<String> change) throws IOException {
    String changed = change.apply(list());
    try (FSDataOutputStream out = fs.create(LIST, true)) {
      out.write(changed.getBytes(StandardCharsets.UTF_8));
    }
  }

  @Test
  void aFencedLogIsReadWhole() throws Exception {
    assertThat(read(fs)).hasSize(10);
    assertThat(LogDirectory.segments(fs, FENCED)).hasSizeGreaterThan(3);
    assertThat(all(WholeLog.readFenced(fs, FENCED, TabletKind.SYSTEM))).isEmpty();
  }

  @Test
  void theListNamesEachSegmentAndItsLength() throws Exception {
    StringBuilder lines = new StringBuilder("stele segments 1\n");
    for (Segment segment : LogDirectory.segments(fs, FENCED)) {
      String line = segment.path().getName() + " " + segment.lengthBytes() + "\n";
      lines.append("(copy\\.[0-9a-f]+/)?").append(Pattern.quote(line));
    }
    assertThat(list()).matches(lines + "crc32c [0-9a-f]{8}\n");
  }

  @Test
  void fencingAgainChangesNothing() throws Exception {
    String before = list();
    fence();
    assertThat(list()).isEqualTo(before);
    assertThat(read(fs)).hasSize(10);
  }

  @Test
  void aFenceThatEndedBeforeTheListIsTakenUpAgain() throws Exception {
    fs.delete(LIST, false);
    assertThatThrownBy(() -> read(fs))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("SEGMENTS");
    fence();
    assertThat(read(fs)).hasSize(10);
  }

  @Test
  void aDirectoryThatIsGoneIsNoEmptyLog() throws Exception {
    fs.delete(FENCED, true);
    assertThatThrownBy(() -> read(fs)).isInstanceOf(CorruptionException.class);
  }

  @Test
  void aLastSegmentThatIsGoneIsMissed() throws Exception {
    Path last = lastSegment();
    fs.delete(last, false);
    assertThatThrownBy(() -> read(fs))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(last.toString());
  }

  @Test
  void aSegmentThatLostItsEndIsMissed() throws Exception {
    Path segment = LogDirectory.segments(fs, FENCED).get(1).path(); // Numbers may be left out.
    byte[] half;
    try (FSDataInputStream in = fs.open(segment)) {
      half = in.readNBytes((int) (fs.getFileStatus(segment).getLen() - 1));
    }
    try (FSDataOutputStream out = fs.create(segment, true)) {
      out.write(half);
    }
    assertThatThrownBy(() -> read(fs))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(segment.toString());
  }

  @Test
  void aDamagedListIsFound() throws Exception {
    changeList(text -> text.replaceFirst("user-", "user-1"));
    assertThatThrownBy(() -> read(fs)).isInstanceOf(CorruptionException.class);
  }

  @Test
  void aListThatWasCutIsFound() throws Exception {
    String whole = list();
    for (int length = 0; length < whole.length(); length++) {
      int cut = length;
      changeList(text -> whole.substring(0, cut));
      assertThatThrownBy(() -> read(fs))
          .as("the first %d of %d bytes", cut, whole.length())
          .isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void oldAnswersOfANameNodeLoseNoRecord() throws Exception {
    assertThat(read(new OldAnswers(fs))).hasSize(10);
  }

  @Test
  void oldAnswersOfANameNodeDoNotSpareAServerItsFence() throws Exception {
    Path other = new Path("crash:/logs/other");
    LogDirectory.create(fs, other);
    Path fenced = new Path("crash:/recovery/other");
    assertThat(
            WholeFence.fence(
                WholeFence.of(SystemRuntime.INSTANCE, new OldAnswers(fs)), other, fenced))
        .contains(fenced);
    assertThat(fs.exists(other)).isFalse();
  }

  @Test
  void anotherMasterThatRenamesInBetweenSparesNoServerItsFence() throws Exception {
    CommitLog log = openOther();
    try (FileSystem racing =
        new Renaming(fs, path -> path.equals(OTHER), () -> fs.rename(OTHER, OTHER_FENCED))) {
      assertThat(
              WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, racing), OTHER, OTHER_FENCED))
          .contains(OTHER_FENCED);
    }
    assertFenced(log);
  }

  @Test
  void anotherMasterThatListsInBetweenListsTheSame() throws Exception {
    CommitLog log = openOther();
    LogFence other = WholeFence.of(SystemRuntime.INSTANCE, fs.disk().mount());
    try (FileSystem racing =
        new Renaming(
            fs,
            path -> path.getName().startsWith("SEGMENTS."),
            () -> WholeFence.fence(other, OTHER, OTHER_FENCED))) {
      assertThat(
              WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, racing), OTHER, OTHER_FENCED))
          .contains(OTHER_FENCED);
    }
    assertFenced(log);
    assertThat(fs.listStatus(OTHER_FENCED))
        .as("no draft is left over")
        .noneMatch(file -> file.getPath().getName().startsWith("SEGMENTS."));
  }

  private CommitLog openOther() throws Exception {
    LogDirectory.create(fs, OTHER);
    CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, OTHER, new ServerId("other", 1, 1), TabletKind.USER),
            SMALL,
            failure -> {});
    log.append(record(TABLET, 1, 10)).get();
    return log;
  }

  /** The zombie's log takes nothing more, and what it acknowledged is there. */
  private void assertFenced(CommitLog log) throws Exception {
    assertThat(fs.exists(OTHER)).isFalse();
    assertThat(fs.exists(new Path(OTHER_FENCED, OTHER.getName()))).isFalse();
    assertThatThrownBy(() -> log.append(record(TABLET, 2, 10)).get())
        .hasCauseInstanceOf(SteleException.class);
    log.close();
    assertThat(all(WholeLog.readFenced(fs, OTHER_FENCED, TabletKind.USER))).hasSize(1);
  }

  /** Has something happen just before the first renaming of a path. */
  private static final class Renaming extends FilterFileSystem implements LeaseRecoverable {
    private final CrashableFileSystem files;
    private final Predicate<Path> paths;
    private final InBetween inBetween;
    private boolean happened;

    private interface InBetween {
      void happen() throws IOException;
    }

    Renaming(CrashableFileSystem files, Predicate<Path> paths, InBetween inBetween) {
      super(files);
      this.files = files;
      this.paths = paths;
      this.inBetween = inBetween;
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
      if (!happened && paths.test(from)) {
        happened = true;
        inBetween.happen();
      }
      return super.rename(from, to);
    }

    @Override
    public boolean recoverLease(Path file) throws IOException {
      return files.recoverLease(file);
    }

    @Override
    public boolean isFileClosed(Path file) throws IOException {
      return files.isFileClosed(file);
    }

    @Override
    public void close() {
      // The files below stay.
    }
  }

  /** Shows a file system as it was when nothing was in it, until it is asked to catch up. */
  private static final class OldAnswers extends FilterFileSystem {
    private boolean caughtUp;

    OldAnswers(FileSystem fs) {
      super(fs);
    }

    @Override
    public void msync() {
      caughtUp = true;
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      check(path);
      return super.getFileStatus(path);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      check(path);
      return super.listStatus(path);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
      check(path);
      return super.open(path, bufferSize);
    }

    private void check(Path path) throws FileNotFoundException {
      if (!caughtUp) {
        throw new FileNotFoundException(path.toString());
      }
    }
  }
}
