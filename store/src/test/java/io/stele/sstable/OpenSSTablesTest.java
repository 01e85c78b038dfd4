package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.RowRange;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OpenSSTablesTest {
  private static final List<TestCell> CELLS = List.of(TestCell.put("row", "q", 1, "value"));

  @TempDir private Path directory;
  private ArrayFileSystem fs;
  private OpenSSTables tables;

  @BeforeEach
  void write() throws IOException {
    fs =
        new ArrayFileSystem(
            SSTableFiles.bytes(directory, SSTableOptions.DEFAULT, SSTableFiles.FILE_ID, CELLS));
    tables = new OpenSSTables(SystemRuntime.INSTANCE, fs, NoBlockCache.INSTANCE);
  }

  private OpenSSTables.Share open() throws IOException {
    return tables.open(SSTableFiles.ANYWHERE, fs.contents.length, FileCaching.NORMAL);
  }

  private static List<TestCell> cells(OpenSSTables.Share share) throws IOException {
    return SSTableFiles.scan(share.table(), RowRange.ALL, ReadOptions.SCAN);
  }

  @Test
  void aFileIsOpenedOnceAndClosedWithItsLastShare() throws IOException {
    OpenSSTables.Share first = open();
    int reads = fs.reads;
    OpenSSTables.Share second = open();
    assertThat(fs.reads).isEqualTo(reads);
    assertThat(second.table()).isSameAs(first.table());
    assertThat(tables.count()).isEqualTo(1);
    first.close();
    first.close(); // Takes nothing from the other.
    assertThat(cells(second)).isEqualTo(CELLS);
    second.close();
    assertThatThrownBy(() -> cells(second)).isInstanceOf(IOException.class);
    assertThat(tables.count()).isZero();
    try (OpenSSTables.Share again = open()) {
      assertThat(cells(again)).isEqualTo(CELLS);
    }
  }

  @Test
  void whoStatesAWrongLengthIsRefusedThoughOthersHaveTheFileOpen() throws IOException {
    try (OpenSSTables.Share right = open()) {
      assertThatThrownBy(
              () -> tables.open(SSTableFiles.ANYWHERE, fs.contents.length - 1, FileCaching.NORMAL))
          .isInstanceOf(IOException.class);
      assertThat(cells(right)).isEqualTo(CELLS);
    }
  }

  @Test
  void whoWaitsForAnotherThatFailsTriesForItself() throws Exception {
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch waiting = new CountDownLatch(1);
    fs.failing = true;
    fs.beforeRead =
        () -> {
          reading.countDown();
          await(waiting);
        };
    CompletableFuture<OpenSSTables.Share> failing = inAnotherThread(this::open);
    await(reading);
    CompletableFuture<OpenSSTables.Share> other = inAnotherThread(this::open);
    waiting.countDown();
    assertThatThrownBy(failing::join).hasRootCauseMessage("this file system only fails");
    assertThatThrownBy(other::join).hasRootCauseMessage("this file system only fails");
    assertThat(tables.count()).isZero();
    fs.failing = false;
    try (OpenSSTables.Share now = open()) {
      assertThat(cells(now)).isEqualTo(CELLS);
    }
  }

  @Test
  void whoIsInterruptedHoldsNothing() throws Exception {
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    fs.beforeRead =
        () -> {
          reading.countDown();
          await(goOn);
        };
    CompletableFuture<OpenSSTables.Share> opening = inAnotherThread(this::open);
    await(reading);
    Thread.currentThread().interrupt();
    assertThatThrownBy(this::open).isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
    goOn.countDown();
    opening.join().close();
    assertThat(tables.count()).isZero();
  }

  private interface Work<T> {
    T make() throws IOException;
  }

  private static <T> CompletableFuture<T> inAnotherThread(Work<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    SystemRuntime.INSTANCE.start(
        "other",
        () -> {
          try {
            result.complete(work.make());
          } catch (IOException | RuntimeException e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
