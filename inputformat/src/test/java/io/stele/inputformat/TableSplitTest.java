package io.stele.inputformat;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.RowKeySample;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.junit.jupiter.api.Test;

class TableSplitTest {
  private static final List<RowKeySample> SAMPLES =
      List.of(
          sample("b", 100),
          sample("d", 200),
          sample("f", 300),
          sample("m", 300),
          sample("p", 350),
          sample("", 400));

  private static RowKeySample sample(String row, long offset) {
    return new RowKeySample(Bytes.of(row), offset);
  }

  private static TabletInfo tablet(String start, String end, long bytes) {
    TabletId id = new TabletId(new TableId("t1"), "0000000000000001");
    ServerId server = new ServerId("node7", 1, 1);
    return new TabletInfo(id, RowRange.of(start, end), Optional.of(server), bytes, 1);
  }

  private static Optional<TableSplit> split(RowQuery query, TabletInfo tablet) {
    return TableSplit.of(new TableScan("webtable", query), 2, tablet, SAMPLES);
  }

  @Test
  void aWholeTabletIsOneSplitWithItsLengthAndHost() {
    TableSplit split = split(RowQuery.ALL, tablet("", "m", 900)).orElseThrow();
    assertThat(split.getLength()).isEqualTo(900);
    assertThat(split.getLocations()).containsExactly("node7");
    assertThat(split.ranges()).containsExactly(RowRange.of("", "m"));
  }

  @Test
  void aTabletOutsideOfTheRangesHasNoSplit() {
    assertThat(split(RowQuery.ALL.range(RowRange.of("n", "o")), tablet("", "m", 900))).isEmpty();
  }

  @Test
  void aPartOfATabletHasItsPartOfTheLength() {
    RowQuery query = RowQuery.ALL.range(RowRange.of("d", "e")).range(RowRange.of("b", "d"));
    TableSplit split = split(query, tablet("", "m", 900)).orElseThrow();
    assertThat(split.getLength()).isEqualTo(300);
    assertThat(split.ranges()).containsExactly(RowRange.of("d", "e"), RowRange.of("b", "d"));
  }

  @Test
  void withoutSamplesTheLengthIsTheTablets() {
    TableSplit split =
        TableSplit.of(new TableScan("webtable", RowQuery.ALL), 0, tablet("", "", 900), List.of())
            .orElseThrow();
    assertThat(split.getLength()).isEqualTo(900);
    assertThat(split.progressAt(Bytes.of("x"))).isEmpty();
  }

  @Test
  void progressGoesByBytes() {
    TableSplit split = split(RowQuery.ALL, tablet("", "m", 900)).orElseThrow();
    assertThat(split.progressAt(Bytes.of("a"))).contains(0f);
    assertThat(split.progressAt(Bytes.of("c"))).contains(1f / 3);
    assertThat(split.progressAt(Bytes.of("f"))).contains(1f);
    TableSplit upper = split(RowQuery.ALL, tablet("m", "", 900)).orElseThrow();
    assertThat(upper.progressAt(Bytes.of("n"))).contains(0f);
    assertThat(upper.progressAt(Bytes.of("q"))).contains(0.5f);
  }

  @Test
  void aSplitComesThroughAStreamAsItWas() throws IOException {
    TableSplit split =
        split(RowQuery.ALL.range(RowRange.of("c", "")), tablet("", "m", 900)).orElseThrow();
    DataOutputBuffer out = new DataOutputBuffer();
    split.write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    TableSplit read = new TableSplit();
    read.readFields(in);
    assertThat(read).usingRecursiveComparison().isEqualTo(split);
    assertThat(read.toString()).isEqualTo("webtable [c, m), 600 bytes");
  }
}
