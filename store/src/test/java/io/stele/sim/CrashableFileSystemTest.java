package io.stele.sim;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.sim.FaultInjector.Effect;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CrashableFileSystemTest {
  private static final Path A = new Path("crash:/d/a");
  private static final Path B = new Path("crash:/d/b");

  private final CrashableFileSystem fs = CrashableFileSystem.create();
  private final CrashableDisk disk = fs.disk();

  private static String read(FileSystem from, Path path) throws IOException {
    try (FSDataInputStream in = from.open(path)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  private FSDataOutputStream start(Path path, String flushed) throws IOException {
    FSDataOutputStream out = fs.create(path, false);
    out.write(flushed.getBytes(UTF_8));
    out.hflush();
    return out;
  }

  @Test
  void filesAreWrittenReadListedRenamedAndDeleted() throws Exception {
    start(A, "hello").close();
    start(B, "").close();
    start(new Path("crash:/d/deep/c"), "").close();
    assertThat(read(fs, A)).isEqualTo("hello");
    assertThat(fs.getFileStatus(A).getLen()).isEqualTo(5);
    assertThat(Arrays.stream(fs.listStatus(A.getParent())).map(FileStatus::getPath))
        .containsExactly(A, B, new Path("crash:/d/deep"));
    assertThatThrownBy(() -> fs.create(A, false)).isInstanceOf(FileAlreadyExistsException.class);
    assertThat(fs.rename(A, B)).isFalse();
    assertThat(fs.rename(A, new Path("crash:/missing/a"))).isFalse();
    assertThat(fs.rename(A.getParent(), new Path("crash:/e"))).isTrue();
    assertThat(read(fs, new Path("crash:/e/a"))).isEqualTo("hello");
    assertThat(fs.exists(A)).isFalse();
    assertThatThrownBy(() -> fs.open(A)).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> fs.listStatus(A)).isInstanceOf(FileNotFoundException.class);
    Path e = new Path("crash:/e");
    assertThatThrownBy(() -> fs.delete(e, false))
        .isInstanceOf(PathIsNotEmptyDirectoryException.class);
    assertThat(fs.delete(e, true)).isTrue();
    assertThat(fs.delete(e, true)).isFalse();
  }

  @Test
  void whoWritesAFileLearnsOnlyAtANewBlockOrItsEndThatItWasDeleted() throws Exception {
    FSDataOutputStream flushed = start(A, "hello");
    FSDataOutputStream fresh = fs.create(B, false);
    fresh.write(1);
    fs.delete(A, false);
    fs.delete(B, false);
    flushed.write(1);
    flushed.hflush();
    assertThatThrownBy(flushed::close).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(fresh::hflush).isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void aReaderSeesWhatWasFlushedWhenItOpened() throws Exception {
    FSDataOutputStream out = start(A, "12345");
    out.write("678".getBytes(UTF_8));
    assertThat(read(fs, A)).isEqualTo("12345");
    out.close();
    assertThat(read(fs, A)).isEqualTo("12345678");
    try (FSDataInputStream in = fs.open(A)) {
      byte[] part = new byte[3];
      in.readFully(4, part);
      assertThat(new String(part, UTF_8)).isEqualTo("567");
      in.seek(6);
      assertThat(in.read()).isEqualTo('7');
      assertThat(in.read(100, part, 0, 3)).isEqualTo(-1);
    }
  }

  static LongStream seeds() {
    return Seeds.of(50);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aCrashKeepsWhatWasFlushedAndPartOfTheRest(long seed) throws Exception {
    FSDataOutputStream out = start(A, "12345");
    out.write("67890".getBytes(UTF_8));
    start(B, "closed").close();
    disk.crash(new Random(seed));
    CrashableFileSystem after = disk.mount();
    assertThat("1234567890").startsWith(read(after, A));
    assertThat(read(after, A)).startsWith("12345");
    assertThat(read(after, B)).isEqualTo("closed");
    assertThatThrownBy(() -> out.write(1)).isInstanceOf(IOException.class);
    assertThatThrownBy(out::hflush).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> fs.exists(A)).isInstanceOf(IOException.class);
  }

  @Test
  void aCrashTearsAnywhereAndTheSameSeedTearsAlike() throws Exception {
    Set<String> seen = new HashSet<>();
    for (int seed = 0; seed < 200; seed++) {
      String first = tornBy(seed);
      assertThat(tornBy(seed)).isEqualTo(first);
      seen.add(first);
    }
    assertThat(seen).containsExactlyInAnyOrder("12", "123", "1234");
  }

  private static String tornBy(int seed) throws IOException {
    CrashableFileSystem one = CrashableFileSystem.create();
    FSDataOutputStream out = one.create(A);
    out.write("12".getBytes(UTF_8));
    out.hflush();
    out.write("34".getBytes(UTF_8));
    one.disk().crash(new Random(seed));
    return read(one.disk().mount(), A);
  }

  @Test
  void aLossOfPowerTakesWhatWasOnlyFlushedOfClosedFilesToo() throws Exception {
    FSDataOutputStream synced = start(A, "123");
    synced.hsync();
    synced.close();
    start(B, "456").close();
    Set<String> seen = new HashSet<>();
    disk.powerLoss(new Random(3));
    CrashableFileSystem after = disk.mount();
    assertThat(read(after, A)).isEqualTo("123");
    seen.add(read(after, B));
    assertThat("456").startsWith(read(after, B));
  }

  @Test
  void oneProcessDiesAndTheOtherGoesOn() throws Exception {
    CrashableFileSystem other = disk.mount();
    FSDataOutputStream out = start(A, "1");
    FSDataOutputStream going = other.create(B);
    disk.kill(fs, new Random(1));
    assertThatThrownBy(out::hsync).isInstanceOf(IOException.class);
    going.write('2');
    going.close();
    assertThat(read(other, A)).isEqualTo("1");
    assertThat(read(other, B)).isEqualTo("2");
  }

  @Test
  void aRenamedFileGoesOnUntilItsLeaseIsRecoveredAndNoNewOneIsMadeBesideIt() throws Exception {
    FSDataOutputStream out = start(A, "1");
    CrashableFileSystem master = disk.mount();
    assertThat(master.rename(A.getParent(), new Path("crash:/fenced"))).isTrue();
    Path fenced = new Path("crash:/fenced/a");
    out.write('2');
    out.hflush();
    assertThat(read(master, fenced)).isEqualTo("12");
    assertThatThrownBy(() -> fs.createFile(B).overwrite(false).build())
        .isInstanceOf(FileNotFoundException.class);
    out.write('3');
    assertThat(master.isFileClosed(fenced)).isFalse();
    assertThat(master.recoverLease(fenced)).isTrue();
    assertThat(master.isFileClosed(fenced)).isTrue();
    assertThatThrownBy(out::hflush).isInstanceOf(IOException.class);
    assertThat(read(master, fenced)).isEqualTo("12");
  }

  @Test
  void faultsComeWhereTheyWereAskedFor() throws Exception {
    FSDataOutputStream out = start(A, "");
    disk.inject(FaultInjector.at(Operation.WRITE, path -> path.equals(A), 2, new Effect.Short(1)));
    disk.inject(FaultInjector.at(Operation.FLUSH, path -> true, 1, new Effect.FailAfter()));
    disk.inject(FaultInjector.always(Operation.LIST, path -> true, new Effect.Fail()));
    out.write("12".getBytes(UTF_8));
    assertThatThrownBy(() -> out.write("34".getBytes(UTF_8))).hasMessageContaining("injected");
    assertThatThrownBy(out::hflush).hasMessageContaining("injected");
    assertThatThrownBy(() -> fs.listStatus(A)).hasMessageContaining("injected");
    assertThat(read(fs, A)).isEqualTo("123");
    assertThat(disk.count(Operation.WRITE)).isEqualTo(3);
    disk.heal();
    assertThat(fs.listStatus(A)).hasSize(1);
    StringBuilder order = new StringBuilder();
    disk.inject(
        FaultInjector.at(
            Operation.READ, path -> true, 1, new Effect.Delay(() -> order.append("delayed"))));
    read(fs, A);
    assertThat(order).hasToString("delayed");
    disk.inject(FaultInjector.always(Operation.READ, path -> true, new Effect.Short(1)));
    assertThat(read(fs, A)).isEqualTo("123");
  }
}
