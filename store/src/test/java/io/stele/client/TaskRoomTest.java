package io.stele.client;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.JobKeys;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

final class TaskRoomTest {
  private static final TaskRoom.Server SMALL = new TaskRoom.Server("small", 100, 4_000_000);
  private static final TaskRoom.Server LARGE = new TaskRoom.Server("large", 100, 400_000_000);

  private static TaskRoom.Tasks tasks(long tasks, long tabletsMax) {
    return new TaskRoom.Tasks(tasks, tabletsMax, JobKeys.OUTPUT_TASK_TABLETS);
  }

  @Test
  void moreTasksThanAServerHasRoomForAreRefusedWithFigures() {
    List<TaskRoom.Server> servers = List.of(LARGE, SMALL);
    assertThatCode(() -> TaskRoom.check(servers, tasks(100, Long.MAX_VALUE)))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> TaskRoom.check(servers, tasks(101, Long.MAX_VALUE)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("the job's 101 tasks may each write to 200 tablets")
        .hasMessageContaining("tablet server small, with 100 tablets of these, would need")
        .hasMessageContaining("need 3,030,000 bytes, and has 3,000,000 for jobs")
        .hasMessageContaining("Run at most 100 tasks")
        .hasMessageContaining("set mapreduce.stele.output.task.tablets to the highest number");
  }

  @Test
  void tasksThatWriteToFewTabletsTakeLess() {
    List<TaskRoom.Server> servers = List.of(LARGE, SMALL);
    assertThatCode(() -> TaskRoom.check(servers, tasks(20_000, 1))).doesNotThrowAnyException();
    assertThatThrownBy(() -> TaskRoom.check(servers, tasks(20_001, 1)))
        .hasMessageContaining("write to 1 of 200 tablets");
  }

  @Test
  void serversThatHaveNoTabletsOfTheJobAreNotAsked() {
    assertThatCode(
            () ->
                TaskRoom.check(
                    List.of(new TaskRoom.Server("other", 0, 1)), tasks(100, Long.MAX_VALUE)))
        .doesNotThrowAnyException();
  }

  @Test
  void serversSayHowMuchRoomTheyHave() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1);
        Stele stele = cluster.client()) {
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t");
      JobEnvironment environment = stele.jobs().environment();
      assertThatCode(
              () -> environment.requireRoomForTasks(List.of(table.id()), tasks(1, Long.MAX_VALUE)))
          .doesNotThrowAnyException();
      assertThatThrownBy(
              () ->
                  environment.requireRoomForTasks(
                      List.of(table.id()), tasks(1_000_000_000, Long.MAX_VALUE)))
          .hasMessageContaining("1,000,000,000 tasks may each write to 1 tablet");
    }
  }
}
