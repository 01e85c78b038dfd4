package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.Test;

class TableInputTest {
  @Test
  void aJobReadsAtAPinWhateverTheSiteSays() throws Exception {
    Configuration site = new Configuration(false);
    site.set("mapreduce.stele.input.read", "latest");
    Job job = CompleteJob.create(site, "job");
    TableInput.all("web").addTo(job);
    assertThat(job.getConfiguration().get("mapreduce.stele.input.read")).isEqualTo("pinned");
  }

  @Test
  void keysOfAnotherScanAreRefused() throws Exception {
    for (String key : List.of("table", "table.families", "table.rows.prefix", "table.filter")) {
      Configuration site = new Configuration(false);
      site.set("mapreduce.stele.input." + key, "other");
      Job job = CompleteJob.create(site, "job");
      assertThatThrownBy(() -> TableInput.all("web").addTo(job))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("mapreduce.stele.input." + key + " is set");
    }
  }
}
