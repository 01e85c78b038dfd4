package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** In how much memory tasks sort. */
class TaskSortTest {
  private static final long MB = 1L << 20;

  private final Configuration conf = new Configuration(false);

  @Test
  void aQuarterOfTheHeapIsUsedAndNotMoreThanWhatHelps() {
    conf.set("mapreduce.framework.name", "yarn");
    assertThat(TaskSort.sortBytes(conf, 800 * MB, 1)).isEqualTo(200 * MB);
    assertThat(TaskSort.sortBytes(conf, 8000 * MB, 1)).isEqualTo(256 * MB);
  }

  @Test
  void tasksOfTheLocalRunnerShareTheHeap() {
    conf.set("mapreduce.job.reduces", "0");
    conf.set("mapreduce.local.map.tasks.maximum", "4");
    assertThat(TaskSort.sortBytes(conf, 1600 * MB, 1)).isEqualTo(100 * MB);
  }

  @Test
  void everyTableHasRoomForItsArrays() {
    conf.set("mapreduce.framework.name", "yarn");
    conf.set(BulkOutputFormat.SORT_BYTES_KEY, "1m");
    assertThat(TaskSort.sortBytes(conf, 800 * MB, 4)).isEqualTo(4 * MB);
  }

  @Test
  void moreThanHalfOfTheHeapIsRefused() {
    conf.set("mapreduce.framework.name", "yarn");
    conf.set(BulkOutputFormat.SORT_BYTES_KEY, "400m");
    assertThat(TaskSort.sortBytes(conf, 800 * MB, 1)).isEqualTo(400 * MB);
    assertThatThrownBy(() -> TaskSort.sortBytes(conf, 799 * MB, 1))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining(BulkOutputFormat.SORT_BYTES_KEY);
  }
}
