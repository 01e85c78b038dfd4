package io.stele.inputformat;

import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.DelegatingInputFormat;

/**
 * Refuses MapReduce's {@code MultipleInputs} with more than one mapper for tables. It asks for the
 * splits of each mapper alone, and each would get all rows of all tables of the job.
 */
final class SeveralMappers {
  /** As {@code MultipleInputs} has them: {@code path;class}, separated by commas. */
  private static final String FORMATS_KEY = "mapreduce.input.multipleinputs.dir.formats";

  private static final String MAPPERS_KEY = "mapreduce.input.multipleinputs.dir.mappers";

  private SeveralMappers() {}

  /**
   * Checks a job that is being submitted.
   *
   * @throws SteleException REFUSED if tables have several mappers
   */
  static void check(Configuration conf) {
    if (!conf.getTrimmed(MRJobConfig.INPUT_FORMAT_CLASS_ATTR, "")
        .equals(DelegatingInputFormat.class.getName())) {
      return; // The keys, if there are any, came with the configuration of another job.
    }
    Map<String, String> mappers = new HashMap<>(); // By path.
    for (String[] one : pairs(conf, MAPPERS_KEY)) {
      mappers.put(one[0], one[1]);
    }
    String unnamed = conf.get(MRJobConfig.MAP_CLASS_ATTR, Mapper.class.getName());
    TreeSet<String> ofTables = new TreeSet<>();
    for (String[] one : pairs(conf, FORMATS_KEY)) {
      if (one[1].equals(TableInputFormat.class.getName())) {
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
