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
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.junit.jupiter.api.Test;

class TableSplitTest {
  private static final long TARGET = 100;

  private final List<TabletInfo> sampled = new ArrayList<>();

  private static RowKeySample sample(String row, long offset) {
    return new RowKeySample(Bytes.of(row), offset);
  }

  private static TabletInfo tablet(String start, String end, String host, long bytes) {
    TabletId id = new TabletId(new TableId("t1"), "0000000000000001");
    ServerId server = new ServerId(host, 1, 1);
    return new TabletInfo(id, RowRange.of(start, end), Optional.of(server), bytes, 1);
  }

  /** Samples a tablet with the same number of bytes in each of {@code rows}. */
  private SplitPlanner planner(RowQuery query, List<String> rows) {
    return new SplitPlanner(
        new TableScan("webtable", query),
        2,
        TARGET,
        tablet -> {
          sampled.add(tablet);
          List<RowKeySample> samples = new ArrayList<>();
          long offset = 0;
          for (String row : rows) {
            samples.add(sample(row, offset += 10));
          }
          samples.add(new RowKeySample(tablet.rows().end(), offset + 10));
          return CompletableFuture.completedFuture(samples);
        });
  }

  private List<TableSplit> plan(RowQuery query, TabletInfo... tablets) throws IOException {
    return planner(query, List.of("b", "d", "f", "h", "j", "m", "p")).plan(List.of(tablets));
  }

  @Test
  void aTabletNearTheTargetIsOneSplitWithItsLengthAndHost() throws IOException {
    List<TableSplit> splits = plan(RowQuery.ALL, tablet("", "", "node7", 120));
    assertThat(splits).hasSize(1);
    assertThat(splits.get(0).getLength()).isEqualTo(120);
    assertThat(splits.get(0).getLocations()).containsExactly("node7");
    assertThat(splits.get(0).ranges()).containsExactly(RowRange.ALL);
    assertThat(sampled).isEmpty();
  }

  @Test
  void aLargeTabletIsCutIntoEqualPieces() throws IOException {
    List<TableSplit> splits = plan(RowQuery.ALL, tablet("", "", "node7", 400));
    assertThat(splits).extracting(TableSplit::getLength).containsExactly(100L, 100L, 100L, 100L);
    assertThat(splits)
        .extracting(TableSplit::ranges)
        .containsExactly(
            List.of(RowRange.of("", "d")),
            List.of(RowRange.of("d", "h")),
            List.of(RowRange.of("h", "m")),
            List.of(RowRange.of("m", "")));
  }

  @Test
  void severalRangesOfALargeTabletAreCutAsIfTheyWereAllThereIs() throws IOException {
    RowQuery query =
        RowQuery.ALL.range(RowRange.of("h", "m")).range(RowRange.of("b", "f")).family("x");
    List<TableSplit> splits = plan(query, tablet("", "", "node7", 400));
    assertThat(splits).extracting(TableSplit::getLength).containsExactly(100L, 100L);
    assertThat(splits)
        .extracting(TableSplit::ranges)
        .containsExactly(List.of(RowRange.of("b", "f")), List.of(RowRange.of("h", "m")));
  }

  @Test
  void aTabletOutsideOfTheRangesHasNoSplit() throws IOException {
    RowQuery query = RowQuery.ALL.range(RowRange.of("n", "o"));
    assertThat(plan(query, tablet("", "m", "node7", 900))).isEmpty();
    assertThat(plan(query, tablet("o", "", "node7", 900))).isEmpty();
    assertThat(sampled).isEmpty();
  }

  @Test
  void aSplitOfRowsWithoutBytesOnDiskIsNotEmptyForThoseWhoLeaveOutEmptyOnes() throws IOException {
    List<TableSplit> splits = plan(RowQuery.ALL, tablet("", "", "node7", 0));
    assertThat(splits).hasSize(1);
    assertThat(splits.get(0).getLength()).isEqualTo(1);
  }

  @Test
  void smallTabletsOfOneHostAreReadTogetherUpToTheTarget() throws IOException {
    List<TabletInfo> tablets = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String start = i == 0 ? "" : String.format("%03d", i);
      String end = i == 199 ? "" : String.format("%03d", i + 1);
      tablets.add(tablet(start, end, "node" + i % 4, 4)); // 200 bytes a host: two targets.
    }
    List<TableSplit> splits = planner(RowQuery.ALL, List.of()).plan(tablets);
    assertThat(splits).hasSize(8).allMatch(split -> split.getLength() == 100);
    assertThat(splits.stream().mapToInt(split -> split.ranges().size()).sum()).isEqualTo(200);
    assertThat(sampled).isEmpty();
  }

  @Test
  void neighboursReadTogetherAreOneRange() throws IOException {
    List<TableSplit> splits =
        plan(RowQuery.ALL, tablet("", "m", "node7", 30), tablet("m", "", "node7", 30));
    assertThat(splits).hasSize(1);
    assertThat(splits.get(0).ranges()).containsExactly(RowRange.ALL);
    assertThat(splits.get(0).marks()).containsExactly(sample("", 0), sample("m", 30));
  }

  /** Counts how often its elements are looked at. */
  private static final class Counted<T> extends AbstractList<T> {
    final List<T> list;
    long looks;

    Counted(List<T> list) {
      this.list = list;
    }

    @Override
    public T get(int index) {
      looks++;
      return list.get(index);
    }

    @Override
    public int size() {
      return list.size();
    }
  }

  @Test
  void tenThousandTabletsAndRangesArePlannedLookingAtEachOnce() throws IOException {
    int count = 10_000;
    List<TabletInfo> tablets = new ArrayList<>();
    List<RowRange> ranges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String row = String.format("%05d", i);
      String next = String.format("%05d", i + 1);
      tablets.add(tablet(i == 0 ? "" : row, i == count - 1 ? "" : next, "node" + i % 10, 20));
      ranges.add(RowRange.of(row + "a", row + "b"));
    }
    Counted<TabletInfo> counted = new Counted<>(tablets);
    RowQuery query = RowQuery.ALL.withRanges(ranges);
    List<TableSplit> splits = planner(query, List.of("00100a1")).plan(counted);
    assertThat(counted.looks).isLessThanOrEqualTo(2L * count);
    // A tablet is sampled once, and the samples of others are not looked at for it.
    assertThat(sampled).hasSize(count);
    assertThat(splits.stream().mapToInt(split -> split.ranges().size()).sum()).isEqualTo(count);
  }

  @Test
  void progressGoesByBytes() throws IOException {
    TableSplit split = plan(RowQuery.ALL, tablet("", "", "node7", 160)).get(1);
    assertThat(split.ranges()).containsExactly(RowRange.of("h", ""));
    Progress progress = new Progress(split.marks(), split.getLength());
    assertThat(progress.part()).isEqualTo(0f);
    progress.read(Bytes.of("h"), 5);
    assertThat(progress.part()).isEqualTo(0f);
    progress.read(Bytes.of("i"), 1000);
    assertThat(progress.part()).isEqualTo(5f / 80);
    progress.read(Bytes.of("i2"), 1);
    assertThat(progress.part()).isEqualTo(20f / 80); // No further than the next mark.
    progress.read(Bytes.of("m"), 10);
    assertThat(progress.part()).isEqualTo(40f / 80);
    progress.end();
    assertThat(progress.part()).isEqualTo(1f);
  }

  @Test
  void progressIsToldFromTheFirstRowsOn() {
    Progress progress = new Progress(List.of(), 1 << 30);
    for (int i = 0; i < 156; i++) { // As many as a sample reads of a piece.
      progress.read(Bytes.of("row"), 100);
    }
    assertThat(progress.part() * (1 << 30)).isBetween(13_000f, 15_600f);
  }

  @Test
  void aSplitComesThroughAStreamAsItWas() throws IOException {
    TableSplit split =
        plan(RowQuery.ALL.range(RowRange.of("d", "")), tablet("", "m", "node7", 80)).get(0);
    DataOutputBuffer out = new DataOutputBuffer();
    split.write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    TableSplit read = new TableSplit();
    read.readFields(in);
    assertThat(read).usingRecursiveComparison().isEqualTo(split);
    assertThat(read.tableId()).isEqualTo(new TableId("t1"));
    assertThat(read.toString()).isEqualTo("webtable [d, m), 60 bytes");
  }
}
