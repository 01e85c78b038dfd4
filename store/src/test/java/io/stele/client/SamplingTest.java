package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.runtime.SystemRuntime;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SamplingTest {
  private static final TableRef TABLE =
      new TableRef(
          Waiting.silent(SystemRuntime.INSTANCE), FakeTablets.TABLE, "t", Duration.ofSeconds(30));

  private final FakeTablets tablets = new FakeTablets();

  private List<String> sample(RowRange rows) {
    return new Sampling(tablets, TABLE, rows, OptionalLong.empty())
        .run().join().stream().map(sample -> sample.row().toUtf8()).toList();
  }

  /** The tablet that began with the first row was merged with the one before it meanwhile. */
  @Test
  void rowsBeforeThoseAskedForAreNoSamplesThoughATabletHasThem() {
    Stream.of("a", "b", "m", "n", "z")
        .forEach(
            key ->
                tablets.put(
                    new Row(Bytes.of(key), List.of(new Cell("f", Bytes.EMPTY, 1, Bytes.of("v"))))));
    assertThat(sample(RowRange.of("m", ""))).containsExactly("m", "n", "z", "");
    assertThat(sample(RowRange.ALL)).containsExactly("a", "b", "m", "n", "z", "");
  }
}
