package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.ChildJvm;
import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.OneCell;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Large values, written and read by a process that has little memory. */
class LargeValueMemoryTest {
  private static final int VALUE_BYTES = 70 << 20;

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(Codec.class)
  void valueOf70MibIsWrittenAndReadWithLittleDirectMemory(Codec codec) throws Exception {
    // The value itself, the block, its compressed form; reading, the block in both forms.
    run(codec, 1, 4 * 70 + 20);
  }

  @Test
  void ofManyFilesBeingWrittenOnlyOneHasALargeBlock() throws Exception {
    run(Codec.LZ4, 6, 4 * 70 + 20);
  }

  private void run(Codec codec, int files, int heapMib) throws Exception {
    Path output = directory.resolve("output");
    Process process =
        ChildJvm.start(
            List.of(
                "-Xmx" + heapMib + "m",
                "-XX:+UseSerialGC",
                "-XX:NewSize=8m",
                "-XX:MaxNewSize=8m",
                "-XX:MaxDirectMemorySize=8m"),
            Program.class,
            List.of(directory.toString(), codec.name(), Integer.toString(files)),
            output);
    try {
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as(Files.readString(output)).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  /** Writes files side by side, each with one large value and a small one, and reads them. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) throws IOException {
      FileSystem fs = SSTableFiles.local();
      int count = Integer.parseInt(args[2]);
      SSTableOptions options = SSTableOptions.DEFAULT.withCodec(Codec.valueOf(args[1]));
      byte[] value = value();
      SSTableWriter[] writers = new SSTableWriter[count];
      for (int i = 0; i < count; i++) {
        org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(args[0], i + ".sst");
        writers[i] = SSTableWriter.create(fs, path, options, i);
      }
      for (SSTableWriter writer : writers) {
        writer.add(cell("a", value));
      }
      for (SSTableWriter writer : writers) {
        writer.add(cell("b", new byte[] {1}));
        SSTableSummary summary = writer.finish();
        check(fs, summary, value);
      }
    }

    private static void check(FileSystem fs, SSTableSummary summary, byte[] value)
        throws IOException {
      try (SSTable table =
              SSTable.open(fs, summary.path(), summary.length(), NoBlockCache.INSTANCE);
          CellCursor cells = table.cursor(RowRange.ALL, ReadOptions.COMPACTION)) {
        require(cells.next());
        int from = cells.valueOffset();
        require(
            Arrays.equals(cells.valueArray(), from, from + value.length, value, 0, value.length));
        require(cells.next() && cells.valueLength() == 1);
        require(!cells.next());
      }
    }

    private static void require(boolean holds) {
      if (!holds) {
        throw new AssertionError("the cells that came back are others");
      }
    }

    /** It shrinks by half, so that no codec gives up on it. */
    private static byte[] value() {
      byte[] value = new byte[VALUE_BYTES];
      Random random = new Random(1);
      byte[] noise = new byte[512];
      for (int at = 0; at < value.length; at += 1024) {
        random.nextBytes(noise);
        System.arraycopy(noise, 0, value, at, noise.length);
      }
      return value;
    }

    private static OneCell cell(String row, byte[] value) {
      byte[] key = ColumnKey.of(Bytes.of(row), "f", Bytes.of("q"));
      return new OneCell(key, key.length, 1, 1, 0, CellType.PUT, value, 0, value.length);
    }
  }
}
