package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What frameworks with shuffles of their own, such as Spark, do with rows and operations. */
class JavaSerializationTest {
  private static byte[] write(Object value) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(value);
    }
    return bytes.toByteArray();
  }

  private static void comesBack(Object value) throws Exception {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(write(value)))) {
      assertThat(in.readObject()).isEqualTo(value);
    }
  }

  @Test
  void rowsAndOperationsComeBackAsTheyWere() throws Exception {
    Bytes row = Bytes.of("row");
    comesBack(
        new Row(row, List.of(new Cell("f", Bytes.of("q"), 7, Bytes.EMPTY, List.of("label")))));
    comesBack(Mutation.of(row));
    Mutation mutation =
        Mutation.of(row)
            .put("f", "q", "v")
            .deleteCell("f", Bytes.of("q"), 3)
            .deleteColumn("f", Bytes.of("q"), new TimeRange(1, 2))
            .deleteFamily("f")
            .deleteRow();
    comesBack(mutation);
    comesBack(
        ReadModifyWrite.increment(row, "f", Bytes.of("n"), 1)
            .with(new ReadModifyWrite.Append("f", Bytes.of("a"), Bytes.of("x"))));
    comesBack(
        CheckAndMutate.ifAny(
            FilterText.parse("condition(column_is('f:q'), interleave(pass_all), block_all)"),
            mutation));
  }

  @Test
  void aSliceDoesNotTakeTheRestWithIt() throws Exception {
    Bytes page = Bytes.of(new byte[100_000]);
    assertThat(write(page.slice(5, 8))).hasSizeLessThan(200);
    comesBack(page.slice(5, 8));
  }
}
