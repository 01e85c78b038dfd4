package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.inputformat.TableInputFormat;
import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
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

  @Test
  void theTablesOfAnotherJobWhoseConfigurationWasCopiedAreRefused() throws Exception {
    Job other = CompleteJob.create(new Configuration(false), "other");
    TableInput.all("other").addTo(other);
    Job job = CompleteJob.create(other.getConfiguration(), "job");
    assertThatThrownBy(() -> TableInput.all("web").addTo(job))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("mapreduce.stele.input.scans is set")
        .hasMessageContaining("a configuration of which no job was made");
    job.getConfiguration().unset("mapreduce.stele.input.scans");
    TableInput.addAll(job, List.of(TableInput.all("web"), TableInput.all("acknowledged")));
    assertThat(job.getConfiguration().getStrings("mapreduce.stele.input.scans")).hasSize(2);
  }

  @Test
  void filesThatTheConfigurationOfAnotherJobReadsAreNotRead() throws Exception {
    Job other = CompleteJob.create(new Configuration(false), "other");
    MultipleInputs.addInputPath(other, new Path("file:///texts"), TextInputFormat.class);
    Job job = CompleteJob.create(other.getConfiguration(), "job");
    TableInput.all("web").addTo(job);
    assertThat(job.getInputFormatClass()).isEqualTo(TableInputFormat.class);
  }
}
