package io.stele.outputformat;

import io.stele.client.Stele;
import io.stele.client.TaskRoom;
import io.stele.config.JobKeys;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * Refuses a job of which tablet servers could not remember all tasks. How many reducers there are
 * is known when the job is submitted; how many mappers, when its input is divided, so a job without
 * reducers is refused when its first ApplicationMaster sets it up, before any task runs.
 */
final class RememberedTasks {
  private RememberedTasks() {}

  /**
   * Checks a job that is being submitted, if reducers write.
   *
   * @throws SteleException REFUSED if servers have too little memory for it, or a key is wrong
   */
  static void checkReducers(Stele stele, Configuration conf) throws IOException {
    long tabletsMax = tabletsMax(conf);
    int reducers = conf.getInt(MRJobConfig.NUM_REDUCES, 1);
    if (reducers > 1) {
      check(stele, conf, reducers, tabletsMax);
    }
  }

  /**
   * Checks a job whose tasks are about to begin, if mappers write. What an ApplicationMaster has
   * begun another one continues: tablets that were split meanwhile do not matter.
   *
   * @throws SteleException REFUSED if servers have too little memory for it
   */
  static void checkMappers(Stele stele, Configuration conf) throws IOException {
    int mappers = conf.getInt(MRJobConfig.NUM_MAPS, 1);
    boolean begins = conf.getInt(MRJobConfig.APPLICATION_ATTEMPT_ID, 1) == 1;
    if (conf.getInt(MRJobConfig.NUM_REDUCES, 1) == 0 && mappers > 1 && begins) {
      check(stele, conf, mappers, tabletsMax(conf));
    }
  }

  private static void check(Stele stele, Configuration conf, long tasks, long tabletsMax)
      throws IOException {
    List<TableId> tables = new ArrayList<>();
    for (OutputTable output : OutputTable.all(conf)) {
      tables.add(OutputTable.open(stele, conf, output.name()).id());
    }
    stele
        .jobs()
        .environment()
        .requireRoomForTasks(
            tables, new TaskRoom.Tasks(tasks, tabletsMax, JobKeys.OUTPUT_TASK_TABLETS));
  }

  private static long tabletsMax(Configuration conf) {
    String text = conf.getTrimmed(JobKeys.OUTPUT_TASK_TABLETS, "");
    try {
      long most = text.isEmpty() ? Long.MAX_VALUE : Long.parseLong(text);
      if (most >= 1) {
        return most;
      }
    } catch (NumberFormatException e) {
      throw new SteleException(SteleException.Code.REFUSED, bad(text), e);
    }
    throw SteleException.refused(bad(text));
  }

  private static String bad(String text) {
    return JobKeys.OUTPUT_TASK_TABLETS
        + " is \""
        + text
        + "\": set it to how many tablets a task writes to at most, from 1 on, or leave it out";
  }
}
