package io.stele.outputformat;

import io.stele.client.Stele;
import io.stele.client.TaskRoom;
import io.stele.config.JobKeys;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses a job of which tablet servers could not remember all tasks, if it says to how many
 * tablets each of them writes. Mostly nobody knows that beforehand: a task writes to few if its
 * input or its keys are a range of rows. So a job that does not say it is only warned of, in the
 * log, where the room is not enough for tasks that write to all tablets.
 *
 * <p>How many reducers there are is known when the job is submitted; how many mappers, when its
 * input is divided, so a job without reducers is checked when its first ApplicationMaster sets it
 * up, before any task runs. Tablets that are split while the job runs, and other jobs, are not
 * counted.
 */
final class RememberedTasks {
  private static final Logger LOG = LoggerFactory.getLogger(RememberedTasks.class);

  private RememberedTasks() {}

  /**
   * Checks a job that is being submitted, if reducers write.
   *
   * @throws SteleException REFUSED if servers have too little memory for as many tablets of each
   *     task as the job says, or the key is wrong
   */
  static void checkReducers(Stele stele, Configuration conf) throws IOException {
    OptionalLong tabletsMax = tabletsMax(conf);
    int reducers = conf.getInt(MRJobConfig.NUM_REDUCES, 1);
    if (reducers > 1) {
      check(stele, conf, reducers, tabletsMax);
    }
  }

  /**
   * Checks a job whose tasks are about to begin, if mappers write. What an ApplicationMaster has
   * begun another one continues: tablets that were split meanwhile do not matter.
   *
   * @throws SteleException as {@link #checkReducers} does
   */
  static void checkMappers(Stele stele, Configuration conf) throws IOException {
    int mappers = conf.getInt(MRJobConfig.NUM_MAPS, 1);
    boolean begins = conf.getInt(MRJobConfig.APPLICATION_ATTEMPT_ID, 1) == 1;
    if (conf.getInt(MRJobConfig.NUM_REDUCES, 1) == 0 && mappers > 1 && begins) {
      check(stele, conf, mappers, tabletsMax(conf));
    }
  }

  private static void check(Stele stele, Configuration conf, long tasks, OptionalLong tabletsMax)
      throws IOException {
    List<TableId> tables = new ArrayList<>();
    for (OutputTable output : OutputTable.all(conf)) {
      tables.add(OutputTable.open(stele, conf, output.name()).id());
    }
    TaskRoom.Tasks writing =
        new TaskRoom.Tasks(tasks, tabletsMax.orElse(Long.MAX_VALUE), JobKeys.OUTPUT_TASK_TABLETS);
    try {
      stele.jobs().environment().requireRoomForTasks(tables, writing);
    } catch (SteleException e) {
      if (tabletsMax.isPresent() || e.code() != SteleException.Code.REFUSED) {
        throw e;
      }
      LOG.warn("If each task writes to all tablets, the job will fail: {}", e.getMessage());
    }
  }

  /** To how many tablets a task writes at most; empty if nobody says it. */
  private static OptionalLong tabletsMax(Configuration conf) {
    String text = conf.getTrimmed(JobKeys.OUTPUT_TASK_TABLETS, "");
    if (text.isEmpty()) {
      return OptionalLong.empty();
    }
    try {
      long most = Long.parseLong(text);
      if (most >= 1) {
        return OptionalLong.of(most);
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
