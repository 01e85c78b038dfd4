package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.OperationId;
import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;

class TaskOperationsTest {
  private static OperationId first(String submission, TaskType type, int task, int attempt) {
    Configuration conf = new Configuration(false);
    conf.set(TaskOperations.SUBMISSION_KEY, submission);
    TaskAttemptID id = new TaskAttemptID("1600000000000", 7, type, task, attempt);
    return TaskOperations.first(new TaskAttemptContextImpl(conf, id), "webtable");
  }

  @Test
  void anotherAttemptHasTheSameIds() {
    assertThat(first("s", TaskType.MAP, 3, 1)).isEqualTo(first("s", TaskType.MAP, 3, 0));
  }

  @Test
  void anotherTaskKindOfTaskOrSubmissionHasOthers() {
    OperationId id = first("s", TaskType.MAP, 3, 0);
    assertThat(first("s", TaskType.MAP, 4, 0)).isNotEqualTo(id);
    assertThat(first("s", TaskType.REDUCE, 3, 0)).isNotEqualTo(id);
    assertThat(first("t", TaskType.MAP, 3, 0)).isNotEqualTo(id);
  }

  @Test
  void aSubmissionWithoutANameIsRefused() {
    for (String missing : List.of("", " ")) {
      assertThatThrownBy(() -> first(missing, TaskType.MAP, 3, 0))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining(TaskOperations.SUBMISSION_KEY)
          .hasMessageContaining("job.getConfiguration()")
          .hasMessageNotContaining("set the key");
    }
  }

  @Test
  void theTablesOfAJobComeBackAsTheyWereAdded() {
    Configuration conf = new Configuration(false);
    OutputTable webtable = new OutputTable("webtable", List.of("anchor", "a,b%, ${user.name}"));
    OutputTable plain = new OutputTable("plain", List.of());
    OutputTable.add(conf, webtable);
    OutputTable.add(conf, plain);
    assertThat(OutputTable.all(conf)).containsExactly(webtable, plain);
    assertThatThrownBy(() -> OutputTable.all(new Configuration(false)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("addTable");
  }

  @Test
  void aTableThatIsAddedTwiceIsOneTableWithTheFamiliesOfBoth() {
    Configuration conf = new Configuration(false);
    OutputTable.add(conf, new OutputTable("webtable", List.of("anchor", "contents")));
    OutputTable.add(conf, new OutputTable("plain", List.of()));
    OutputTable.add(conf, new OutputTable("webtable", List.of("anchor", "language")));
    OutputTable.add(conf, new OutputTable("plain", List.of()));
    assertThat(OutputTable.all(conf))
        .containsExactly(
            new OutputTable("webtable", List.of("anchor", "contents", "language")),
            new OutputTable("plain", List.of()));
  }
}
