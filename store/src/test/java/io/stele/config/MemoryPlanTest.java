package io.stele.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import io.stele.record.RecordChangeSize;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class MemoryPlanTest {
  private static final long MIB = 1L << 20;

  private final Configuration conf = new Configuration(false);

  private MemoryPlan plan(long heapMib, long directMib) {
    return MemoryPlan.of(conf, new ProcessMemory(heapMib * MIB, directMib * MIB));
  }

  private static long sum(List<MemoryPlan.Share> shares) {
    return shares.stream().mapToLong(MemoryPlan.Share::bytes).sum();
  }

  @Test
  void sharesAddUpToWhatWasGivenWhateverThatIs() {
    for (long heap = 320; heap <= 64 << 10; heap += heap / 7) {
      MemoryPlan plan = plan(heap, heap / 2);
      assertThat(sum(plan.heap())).as("heap of %d MiB", heap).isBetween(0L, heap * MIB);
      assertThat(sum(plan.direct())).as("heap of %d MiB", heap).isBetween(0L, heap / 2 * MIB);
      assertThat(plan.heap()).allMatch(share -> share.bytes() >= 0);
      assertThat(plan.direct()).allMatch(share -> share.bytes() >= 0);
    }
  }

  @Test
  void theLargestValueAndWhatTravelsWithItFollowFromTheMemory() {
    MemoryPlan small = plan(704, 192);
    MemoryPlan large = plan(4096, 1024);
    assertThat(small.valueBytesMax()).isBetween(6 * MIB, 12 * MIB);
    assertThat(large.valueBytesMax()).isBetween(60 * MIB, MemoryPlan.VALUE_BYTES_MOST);
    assertThat(plan(64 << 10, 16 << 10).valueBytesMax()).isEqualTo(MemoryPlan.VALUE_BYTES_MOST);
    for (MemoryPlan plan : List.of(small, large)) {
      assertThat(plan.frameBytesMax()).isGreaterThan((int) plan.valueBytesMax());
      // A write of the largest value is admitted beside others.
      assertThat(plan.requestBytes())
          .isGreaterThan(2L * MemoryPlan.FRAME_COPIES * plan.valueBytesMax());
      assertThat(plan.answerBytes()).isGreaterThan(plan.valueBytesMax());
      assertThat(plan.memtableBytes()).isGreaterThan(plan.valueBytesMax());
    }
  }

  @Test
  void whatMetadataRemembersOfOperationsFollowsFromTheMemory() {
    conf.set(Keys.CACHE_BYTES.name(), "8m");
    assertThat(plan(182, 96).systemOperationsBytes()).isEqualTo(2 * MIB);
    assertThat(plan(1024, 256).systemOperationsBytes()).isEqualTo(8 * MIB);
    assertThat(plan(64 << 10, 16 << 10).systemOperationsBytes()).isEqualTo(16 * MIB);
  }

  @Test
  void whatIsSetIsKept() {
    conf.set(Keys.VALUE_BYTES_MAX.name(), "2m");
    conf.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "300m");
    conf.set(Keys.OPERATIONS_BYTES.name(), "5m");
    MemoryPlan plan = plan(1024, 256);
    assertThat(plan.valueBytesMax()).isEqualTo(2 * MIB);
    assertThat(plan.memtableBytes()).isEqualTo(300 * MIB);
    assertThat(plan.operationsBytes()).isEqualTo(5 * MIB);
    assertThat(sum(plan.heap())).isLessThanOrEqualTo(1024 * MIB);
  }

  @Test
  void whatSavesReadsHasMemoryOnlyWhereThereIsSomeToSpare() {
    assertThat(plan(704, 192).replayBytes()).isEqualTo(8 * MIB);
    assertThat(plan(704, 192).idleReadaheadBytes()).isEqualTo(11 * MIB / 2);
    assertThat(plan(64 << 10, 16 << 10).idleReadaheadBytes()).isEqualTo(16 * MIB);
    conf.set(Keys.CACHE_BYTES.name(), "8m");
    MemoryPlan smallest = plan(182, 96);
    assertThat(smallest.replayBytes()).isBetween(0, (int) MIB);
    assertThat(smallest.idleReadaheadBytes()).isBetween(0, (int) MIB);
    assertThat(smallest.valueBytesMax()).isEqualTo(MemoryPlan.VALUE_BYTES_LEAST);
    assertThat(sum(smallest.heap())).isLessThanOrEqualTo(182 * MIB);
    assertThatThrownBy(() -> plan(181, 96)).hasMessageContaining("and has 181.0");
  }

  /** Any server may have METADATA. */
  @Test
  void theSmallestServerTakesTheLargestChangeOfATabletsRecord() {
    conf.set(Keys.CACHE_BYTES.name(), "8m");
    for (String value : new String[] {"0", "1k", "1m"}) {
      conf.set(Keys.VALUE_BYTES_MAX.name(), value);
      MemoryPlan smallest = plan(182, 96);
      assertThat((long) smallest.frameBytesMax())
          .as(value)
          .isGreaterThan(RecordChangeSize.REQUEST_BYTES_MAX + (128 << 10));
      assertThat(smallest.systemMemtableBytes())
          .isGreaterThan(RecordChangeSize.CELL_BYTES_MAX + (256 << 10));
      assertThat(smallest.systemRequestBytes())
          .isGreaterThan(MemoryPlan.FRAME_COPIES * RecordChangeSize.REQUEST_BYTES_MAX);
    }
  }

  @Test
  void aLimitOnValuesThatTheMemoryCannotCarryIsRefusedWithTheSum() {
    conf.set(Keys.VALUE_BYTES_MAX.name(), "100m");
    assertThatThrownBy(() -> plan(704, 192))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("of heap and has 704.0")
        .hasMessageContaining(Keys.VALUE_BYTES_MAX.name())
        .hasMessageContaining(Keys.MEMTABLE_TOTAL_BYTES.name())
        .hasMessageContaining(Keys.YARN_TABLETSERVER_MEMORY.name());
    assertThat(plan(4096, 1024).valueBytesMax()).isEqualTo(100 * MIB);
  }

  @Test
  void memtablesAndACacheThatDoNotFitAreRefused() {
    conf.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "600m");
    assertThatThrownBy(() -> plan(704, 192))
        .hasMessageContaining(
            "600.0 MiB  memtables of users' tables (stele.tabletserver.memtable.total.bytes)");
    conf.unset(Keys.MEMTABLE_TOTAL_BYTES.name());
    conf.set(Keys.CACHE_BYTES.name(), "1g");
    conf.set(Keys.CACHE_OFF_HEAP_PERCENT.name(), "0");
    assertThatThrownBy(() -> plan(704, 192)).hasMessageContaining(Keys.CACHE_BYTES.name());
  }

  @Test
  void tooLittleMemoryOffTheHeapIsRefused() {
    assertThatThrownBy(() -> plan(704, 100))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("MaxDirectMemorySize")
        .hasMessageContaining("compression");
  }
}
