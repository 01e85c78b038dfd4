package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What a job may write is what a tablet would take. */
class JobFileWriterTest {
  private static final Path ROOT = new Path("/stele");
  private static final long VALUE_BYTES = 1000;

  private final FileSystem fs = CrashableFileSystem.create();

  private JobFileWriter writer() {
    JobFileWriter.Target target =
        new JobFileWriter.Target(fs, ROOT, "job", "task", TableSchema.of("t", "f"), 7);
    return new JobFileWriter(target, new Random(1), VALUE_BYTES);
  }

  private static Mutation empties(Bytes row, String prefix, int count) {
    Mutation mutation = Mutation.of(row);
    for (int i = 0; i < count; i++) {
      mutation = mutation.put("f", prefix + i, "");
    }
    return mutation;
  }

  @Test
  void aRowTakesNoMoreFromAllItsMutationsThanFromOne() throws IOException {
    // Each cell has its own copy of the key, and zero bytes take two.
    Bytes row = Bytes.of(new byte[Limits.ROW_BYTES_MAX]);
    int half = (int) (Limits.MUTATION_BYTES_MAX / (2L * Limits.ROW_BYTES_MAX) * 2 / 3);
    try (JobFileWriter writer = writer()) {
      writer.add(empties(row, "a", half));
      assertThatThrownBy(() -> writer.add(empties(row, "b", half)))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("the limit is " + Limits.MUTATION_BYTES_MAX);
    }
  }

  @Test
  void aValueAboveTheLimitIsRefused() throws IOException {
    try (JobFileWriter writer = writer()) {
      writer.add(Mutation.of("a").put("f", "q", new byte[(int) VALUE_BYTES]));
      assertThatThrownBy(
              () -> writer.add(Mutation.of("b").put("f", "q", new byte[(int) VALUE_BYTES + 1])))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("has 1001 bytes: the limit is 1000");
      assertThat(writer.finish()).hasSize(1);
    }
  }
}
