package io.stele.outputformat;

import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * Refuses MapReduce's {@code MultipleOutputs}, and Avro's, in jobs with tables. They make further
 * writers in a task, whose output nobody begins or commits but the committer of the job's own
 * output: files beside tables would stay in {@code _temporary} for ever, and tables beside files
 * would get nothing. Beside other tables, these writers would number their records as the task's
 * own writer does: tablets would take the records of one for repetitions of the other's.
 */
final class NamedOutputs {
  /**
   * As both have it, privately: the names, separated by blanks. Below it are the formats by name.
   */
  private static final List<String> NAMES_KEYS =
      List.of("mapreduce.multipleoutputs", "avro.mapreduce.multipleoutputs");

  /** Set in the configuration of every writer that {@code MultipleOutputs} makes. */
  private static final String BASE_NAME_KEY = "mapreduce.output.basename";

  private static final List<String> FORMATS =
      List.of(TableOutputFormat.class.getName(), BulkOutputFormat.class.getName());

  private NamedOutputs() {}

  /**
   * Checks a job that is being submitted with {@code format} as its output format.
   *
   * @throws SteleException REFUSED if it also names outputs to tables or to files
   */
  static void checkSubmitted(Configuration conf, Class<?> format) {
    for (String key : NAMES_KEYS) {
      for (String name : conf.get(key, "").trim().split(" +")) {
        String named = conf.get(key + ".namedOutput." + name + ".format", "");
        if (FORMATS.contains(named)) {
          throw refused("named output " + name, format);
        }
        if (writesFiles(conf, named)) {
          throw SteleException.refused(
              "named output "
                  + name
                  + " of MultipleOutputs would write files that are never committed, as the job's"
                  + " own output is tables: write the files with another job, or their records to"
                  + " another table");
        }
      }
    }
    conf.unset(BASE_NAME_KEY); // It says nothing about tables, and would be taken for the below.
  }

  private static boolean writesFiles(Configuration conf, String format) {
    Class<?> named = format.isEmpty() ? null : conf.getClassByNameOrNull(format);
    return named != null && FileOutputFormat.class.isAssignableFrom(named);
  }

  /**
   * Checks that the writer of a task is not made by {@code MultipleOutputs}.
   *
   * @throws SteleException REFUSED if it is
   */
  static void checkWriter(Configuration conf, Class<?> format) {
    String name = conf.get(BASE_NAME_KEY, "");
    if (!name.isEmpty()) {
      throw refused("output " + name, format);
    }
  }

  private static SteleException refused(String output, Class<?> format) {
    String own = format.getSimpleName();
    return SteleException.refused(
        output
            + " of MultipleOutputs cannot write to tables. Instead, make "
            + own
            + " the job's own output format, add each table with "
            + own
            + ".addTable, and name a record's table in its key: context.write(new Text(\"table\"),"
            + " ...). Write files with another job");
  }
}
