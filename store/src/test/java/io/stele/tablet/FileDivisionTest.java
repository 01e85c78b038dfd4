package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** The rows of files are divided by their bytes. */
class FileDivisionTest {
  private static final Path ROOT = new Path("/stele");
  private static final int VALUE_BYTES = 1000;

  private final FileSystem fs = CrashableFileSystem.create();
  private final Random random = new Random(1);
  private final List<FileRef> files = new ArrayList<>();

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%06d", number));
  }

  /** A file with every {@code step}-th row. */
  private void write(int from, int to, int step, int valueBytes) throws IOException {
    JobFileWriter.Target target =
        new JobFileWriter.Target(fs, ROOT, "job", "t" + files.size(), TableSchema.of("t", "f"), 7);
    try (JobFileWriter writer = new JobFileWriter(target, new Random(1), 1 << 30)) {
      for (int i = from; i < to; i += step) {
        byte[] value = new byte[valueBytes];
        random.nextBytes(value);
        writer.add(Mutation.of(row(i)).put("f", "q", value));
      }
      files.addAll(writer.finish());
    }
  }

  private List<Bytes> starts(int partsMax, long bytesMin) throws IOException {
    return new FileDivision(fs, ROOT, files).starts(partsMax, bytesMin);
  }

  @Test
  void filesOfTheSameRowsAreDividedIntoEvenParts() throws IOException {
    for (int file = 0; file < 5; file++) {
      write(file, 10_000, 5, VALUE_BYTES);
    }
    List<Bytes> starts = starts(4, 1);
    assertThat(starts).hasSize(3).isSorted();
    for (int i = 0; i < 3; i++) {
      assertThat(starts.get(i)).isBetween(row(2500 * (i + 1) - 600), row(2500 * (i + 1) + 600));
    }
    assertThat(starts(4, 1)).as("again").isEqualTo(starts);
  }

  @Test
  void filesOfNeighbouringRowsAreDividedByTheirBytes() throws IOException {
    write(0, 1000, 1, 9 * VALUE_BYTES);
    write(1000, 2000, 1, VALUE_BYTES);
    List<Bytes> starts = starts(2, 1);
    assertThat(starts).hasSize(1);
    assertThat(starts.get(0)).isBetween(row(480), row(640));
  }

  @Test
  void noPartHasLessThanTheMinimum() throws IOException {
    write(0, 1000, 1, VALUE_BYTES);
    assertThat(starts(10, 400_000)).hasSize(1);
    assertThat(starts(10, 2_000_000)).isEmpty();
    assertThat(starts(1, 1)).isEmpty();
  }

  @Test
  void aRowLargerThanAPartIsNotFollowedByATinyPart() throws IOException {
    write(0, 1, 1, 8_000_000);
    write(1, 2000, 1, VALUE_BYTES);
    List<Bytes> starts = starts(5, 1);
    assertThat(starts).isNotEmpty().isSorted().doesNotHaveDuplicates();
    assertThat(starts.size()).isLessThanOrEqualTo(2);
  }

  @Test
  void noFilesAreNotDivided() throws IOException {
    assertThat(starts(10, 1)).isEmpty();
  }
}
