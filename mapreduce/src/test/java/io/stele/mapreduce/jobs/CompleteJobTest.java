package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.inputformat.TableInputFormat;
import io.stele.model.SteleException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.Test;

class CompleteJobTest {
  @Test
  void noTaskMayFailWhateverTheSiteTolerates() throws Exception {
    Configuration site = new Configuration(false);
    site.setInt("mapreduce.map.failures.maxpercent", 100);
    site.setInt("mapreduce.reduce.failures.maxpercent", 100);
    Job job = CompleteJob.create(site, "job");
    assertThat(job.getConfiguration().getInt("mapreduce.map.failures.maxpercent", 1)).isZero();
    assertThat(job.getConfiguration().getInt("mapreduce.reduce.failures.maxpercent", 1)).isZero();
  }

  @Test
  void countersThatAreLostAreNoResult() {
    for (Counters lost : Arrays.asList(null, new Counters())) {
      assertThatThrownBy(() -> CompleteJob.known(lost, 1))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("mapreduce.jobhistory.address");
      assertThat(CompleteJob.known(lost, 0).countCounters()).isZero(); // Nothing to count.
    }
    Counters counters = new Counters();
    counters.findCounter(TaskCounter.MAP_INPUT_RECORDS);
    assertThat(CompleteJob.known(counters, 1)).isSameAs(counters);
  }

  /** As after a second ApplicationMaster that began from scratch when all was committed. */
  @Test
  void countersOfTasksThatReadNothingAreNoResult() {
    Counters counters = new Counters();
    counters.findCounter(TableInputFormat.Counter.ROWS).increment(0);
    counters.findCounter(TableInputFormat.Counter.SPLITS_NOT_READ).increment(2);
    assertThatThrownBy(() -> CompleteJob.known(counters, 2))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN))
        .hasMessageContaining("all its output is there");
  }
}
