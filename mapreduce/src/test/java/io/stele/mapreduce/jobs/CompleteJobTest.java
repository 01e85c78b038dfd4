package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
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
}
