package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;

class BulkOutputFormatTest {
  private static String name(int task, int attempt) {
    TaskAttemptID id = new TaskAttemptID("1600000000000", 7, TaskType.MAP, task, attempt);
    return BulkOutputFormat.attempt(new TaskAttemptContextImpl(new Configuration(false), id));
  }

  @Test
  void namesOfAttemptsAscendAsTheirTasksDoWhateverTheAttemptsAre() {
    List<String> names =
        List.of(
            name(0, 0),
            name(0, 2),
            name(0, 1000),
            name(1, 0),
            name(999_999, 3 << 16),
            name(1_000_000, 0),
            name(Integer.MAX_VALUE, Integer.MAX_VALUE));
    assertThat(names).isSorted().extracting(String::length).containsOnly(names.get(0).length());
  }

  /** Spark checks the output of a copy of what it was given, unless that is a job's. */
  @Test
  void aConfigurationThatWasCopiedBeforeTheSubmissionIsRefused() {
    assertThatThrownBy(() -> BulkOutputFormat.job(new Configuration(false)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("job.getConfiguration()");
  }
}
