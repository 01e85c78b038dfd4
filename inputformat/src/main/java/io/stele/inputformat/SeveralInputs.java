package io.stele.inputformat;

import io.stele.client.ModelSerialization;
import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.DelegatingInputFormat;

/**
 * Tables that a job reads beside files, by MapReduce's {@code MultipleInputs}. That reads no table
 * unless one of its paths has {@link TableInputFormat}, and no file once something else is the
 * job's input format. And it asks for the splits of each mapper alone: with more than one mapper
 * for tables, each would get all rows of all tables of the job. What would be read in part or
 * several times is refused.
 */
final class SeveralInputs {
  /** As {@code MultipleInputs} has them: {@code path;class}, separated by commas. */
  private static final String FORMATS_KEY = "mapreduce.input.multipleinputs.dir.formats";

  private static final String MAPPERS_KEY = "mapreduce.input.multipleinputs.dir.mappers";

  private SeveralInputs() {}

  /**
   * Makes {@link TableInputFormat} an input format of a job: its only one, or the one of a path
   * among those of {@code MultipleInputs}, if the job has such.
   *
   * @throws SteleException REFUSED if it has, but none of these paths is for tables
   */
  static void setFormat(Job job) {
    Configuration conf = job.getConfiguration();
    if (!hasSeveral(conf)) {
      job.setInputFormatClass(TableInputFormat.class);
    } else if (pairs(conf, FORMATS_KEY).stream().noneMatch(SeveralInputs::isOfTables)) {
      throw SteleException.refused(
          "the job reads files, by MultipleInputs ("
              + FORMATS_KEY
              + "), and none of its paths is for tables: the job would read either the files or the"
              + " tables. To read both, first call MultipleInputs.addInputPath(job, new"
              + " Path(\"tables\"), TableInputFormat.class, YourMapper.class), with any path; then"
              + " addTable. To read only tables, because the files came with a copy of another"
              + " job's configuration, first call job.setInputFormatClass(TableInputFormat.class)");
    }
  }

  /** Without it the keys, if there are any, came with the configuration of another job. */
  private static boolean hasSeveral(Configuration conf) {
    return conf.getTrimmed(MRJobConfig.INPUT_FORMAT_CLASS_ATTR, "")
        .equals(DelegatingInputFormat.class.getName());
  }

  private static boolean isOfTables(String[] pair) {
    return pair[1].equals(TableInputFormat.class.getName());
  }

  /**
   * Checks a job that is being submitted, before anything is set in its configuration.
   *
   * @throws SteleException REFUSED if tables have several mappers, or MapReduce cannot sort the
   *     job's keys
   */
  static void check(Configuration conf) {
    if (!hasSeveral(conf)) {
      return;
    }
    ModelSerialization.checkKeysAreSorted(conf);
    Map<String, String> mappers = new HashMap<>(); // By path.
    for (String[] one : pairs(conf, MAPPERS_KEY)) {
      mappers.put(one[0], one[1]);
    }
    String unnamed = conf.get(MRJobConfig.MAP_CLASS_ATTR, Mapper.class.getName());
    TreeSet<String> ofTables = new TreeSet<>();
    for (String[] one : pairs(conf, FORMATS_KEY)) {
      if (isOfTables(one)) {
        ofTables.add(mappers.getOrDefault(one[0], unnamed));
      }
    }
    if (ofTables.size() > 1) {
      throw SteleException.refused(
          "MultipleInputs has several mappers for TableInputFormat, "
              + String.join(" and ", ofTables)
              + ": each would read all tables of the job. Call MultipleInputs.addInputPath once for"
              + " TableInputFormat, or run a job for each mapper");
    }
  }

  private static List<String[]> pairs(Configuration conf, String key) {
    List<String[]> pairs = new ArrayList<>();
    for (String text : conf.get(key, "").split(",")) {
      String[] pair = text.split(";");
      if (pair.length == 2) {
        pairs.add(pair);
      }
    }
    return pairs;
  }
}
