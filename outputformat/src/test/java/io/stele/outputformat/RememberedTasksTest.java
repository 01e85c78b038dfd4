package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RememberedTasksTest {
  private static final int MANY = 1_000_000_000;
  private static MiniStele cluster;
  private static Stele stele;

  @BeforeAll
  static void start() throws IOException {
    cluster = MiniStele.start(MiniStele.quick(new Configuration(false)), Site.inMemory(), 1, 1);
    stele = cluster.client();
    stele.admin().createTable(TableSchema.of("t", "f"));
  }

  @AfterAll
  static void stop() {
    stele.close();
    cluster.close();
  }

  /** A job with more tasks than any server has room for. */
  private static Configuration job(String tasks, String tabletsMax) throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    TableOutputFormat.addTable(job, "t");
    Configuration conf = job.getConfiguration();
    OutputTable.identifyAll(stele, conf);
    conf.setInt("mapreduce.job.reduces", 0);
    conf.setInt(tasks, MANY);
    conf.set(TableOutputFormat.TASK_TABLETS_KEY, tabletsMax);
    return conf;
  }

  private static Configuration reducers(String tabletsMax) throws IOException {
    return job("mapreduce.job.reduces", tabletsMax);
  }

  private static Configuration mappers(String tabletsMax) throws IOException {
    return job("mapreduce.job.maps", tabletsMax);
  }

  @Test
  void aJobThatDoesNotSayToHowManyTabletsItsTasksWriteIsNotRefused() {
    // Each may read a range of rows, and write to few.
    assertThatCode(() -> RememberedTasks.checkReducers(stele, reducers("")))
        .doesNotThrowAnyException();
    assertThatCode(() -> RememberedTasks.checkMappers(stele, mappers("")))
        .doesNotThrowAnyException();
  }

  @Test
  void aJobThatSaysMoreThanThereIsRoomForIsRefused() {
    assertThatThrownBy(() -> RememberedTasks.checkReducers(stele, reducers("1")))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("1,000,000,000 tasks may each write to 1 tablet");
    assertThatThrownBy(() -> RememberedTasks.checkMappers(stele, mappers("1")))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("1,000,000,000 tasks may each write to 1 tablet");
  }

  @Test
  void onlyTasksThatWriteAreCounted() throws IOException {
    RememberedTasks.checkReducers(stele, mappers("1")); // Their number is not known yet.
    Configuration conf = reducers("1");
    conf.setInt("mapreduce.job.maps", MANY);
    RememberedTasks.checkMappers(stele, conf); // They send to reducers.
  }

  @Test
  void whatOneApplicationMasterHasBegunAnotherContinues() throws IOException {
    Configuration conf = mappers("1");
    conf.setInt("mapreduce.job.application.attempt.id", 2);
    assertThatCode(() -> RememberedTasks.checkMappers(stele, conf)).doesNotThrowAnyException();
  }

  @Test
  void aWrongNumberOfTabletsIsRefusedWithItsKey() {
    for (String wrong : new String[] {"0", "-1", "few", "1.5"}) {
      assertThatThrownBy(() -> RememberedTasks.checkReducers(stele, mappers(wrong)))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("mapreduce.stele.output.task.tablets is \"" + wrong + "\"");
    }
  }
}
