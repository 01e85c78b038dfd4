package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.files.TooFewReplicasException;
import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.ReadOptions;
import io.stele.sstable.SSTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What a job may write is what a tablet would take. */
class JobFileWriterTest {
  private static final Path ROOT = new Path("/stele");
  private static final long VALUE_BYTES = 1000;

  private final CrashableFileSystem fs = CrashableFileSystem.create();

  private JobFileWriter writer() {
    JobFileWriter.Target target =
        new JobFileWriter.Target(fs, ROOT, "job", "task", TableSchema.of("t", "f"), 7);
    return new JobFileWriter(target, new Random(1), VALUE_BYTES);
  }

  private static Mutation empties(Bytes row, String prefix, int count) {
    Mutation.Builder mutation = Mutation.builder(row);
    for (int i = 0; i < count; i++) {
      mutation.put("f", Bytes.of(prefix + i), Bytes.EMPTY);
    }
    return mutation.build();
  }

  /** A framework may number the attempts of a stage anew. */
  @Test
  void aFileOfAnotherWriterWithThatNameStays() throws IOException {
    FileRef first;
    try (JobFileWriter writer = writer()) {
      writer.add(Mutation.of("a").put("f", "q", "1"));
      first = writer.finish().get(0);
    }
    try (JobFileWriter writer = writer()) {
      writer.add(Mutation.of("b").put("f", "q", "2"));
      assertThatThrownBy(writer::finish).isInstanceOf(FileAlreadyExistsException.class);
    }
    assertThat(cells(first)).containsExactly("a PUT 1");
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
  void aRowMayHaveMoreCellsThanOneMutation() throws IOException {
    int times = 11;
    int each = Limits.EDITS_MAX / 10;
    try (JobFileWriter writer = writer()) {
      writer.add(Mutation.of("a").put("f", "x", "0"));
      for (int i = 0; i < times; i++) {
        writer.add(empties(Bytes.of("b"), i + "-", each - 1).put("f", "last", "" + i));
      }
      writer.add(Mutation.of("b").put("f", "z", "1"));
      writer.add(Mutation.of("c").put("f", "x", "2"));
      List<String> cells = cells(writer.finish().get(0));
      assertThat(cells).hasSize(times * each + 3).startsWith("a PUT 0").endsWith("c PUT 2");
      assertThat(cells.subList(times * (each - 1) + 1, cells.size() - 2))
          .as("the later put of a column comes first")
          .containsExactly(
              "b PUT 10",
              "b PUT 9",
              "b PUT 8",
              "b PUT 7",
              "b PUT 6",
              "b PUT 5",
              "b PUT 4",
              "b PUT 3",
              "b PUT 2",
              "b PUT 1",
              "b PUT 0");
      assertThat(cells.get(cells.size() - 2)).isEqualTo("b PUT 1");
    }
  }

  @Test
  void aFileWithTooFewReplicasIsNotFinishedAndIsDeleted() throws IOException {
    try (JobFileWriter writer = writer()) {
      writer.add(Mutation.of("a").put("f", "x", "1"));
      fs.disk().dataNodes(1);
      assertThatThrownBy(writer::finish)
          .isInstanceOf(TooFewReplicasException.class)
          .hasMessageContaining("task-0.sst has only 1 of the 2 replicas")
          .hasMessageContaining("stele.tabletserver.log.replicas.min");
    }
    assertThat(fs.disk().files()).isEmpty();
  }

  @Test
  void theCellsOfARowComeInAnyOrder() throws IOException {
    try (JobFileWriter writer = writer()) {
      writer.add(Mutation.of("a").put("f", "x", "1").put("f", "y", "2"));
      writer.add(Mutation.of("a").put("f", "x", "3").deleteRow());
      writer.add(Mutation.of("b").put("f", "y", "4").put("f", "x", "5"));
      writer.add(Mutation.of("c").put("f", "x", "6"));
      List<FileRef> files = writer.finish();
      assertThat(cells(files.get(0)))
          .containsExactly(
              "a DELETE_ROW ", "a PUT 3", "a PUT 1", "a PUT 2", "b PUT 5", "b PUT 4", "c PUT 6");
    }
  }

  private List<String> cells(FileRef file) throws IOException {
    List<String> found = new ArrayList<>();
    Path path = new Path(ROOT, file.path());
    long length = fs.getFileStatus(path).getLen();
    try (SSTable table = SSTable.open(fs, path, length, NoBlockCache.INSTANCE);
        CellCursor cells = table.cursor(RowRange.ALL, ReadOptions.SCAN)) {
      while (cells.next()) {
        Bytes row = ColumnKey.row(cells.key(), cells.keyLength());
        Bytes value = Bytes.of(cells.valueArray(), cells.valueOffset(), cells.valueLength());
        found.add(row + " " + cells.type() + " " + value);
      }
    }
    return found;
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
