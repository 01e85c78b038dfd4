package io.stele.outputformat;

import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/**
 * Refuses MapReduce's {@code MultipleOutputs} over tables. It makes further writers in a task,
 * which would number their records as the task's own writer does: tablets would take the records of
 * one for repetitions of the other's. And where the job's own output is something else, nobody
 * begins or commits the output of these writers.
 */
final class NamedOutputs {
  /** As {@code MultipleOutputs} has it, privately: the names, separated by blanks. */
  private static final String NAMES_KEY = "mapreduce.multipleoutputs";

  private static final String FORMAT_KEY = NAMES_KEY + ".namedOutput.%s.format";

  /** Set in the configuration of every writer that {@code MultipleOutputs} makes. */
  private static final String BASE_NAME_KEY = "mapreduce.output.basename";

  private static final List<String> FORMATS =
      List.of(TableOutputFormat.class.getName(), BulkOutputFormat.class.getName());

  private NamedOutputs() {}

  /**
   * Checks a job that is being submitted with {@code format} as its output format.
   *
   * @throws SteleException REFUSED if it also names outputs to tables
   */
  static void checkSubmitted(Configuration conf, Class<?> format) {
    for (String name : conf.get(NAMES_KEY, "").trim().split(" +")) {
      if (FORMATS.contains(conf.get(String.format(FORMAT_KEY, name), ""))) {
        throw refused("named output " + name, format);
      }
    }
    conf.unset(BASE_NAME_KEY); // It says nothing about tables, and would be taken for the below.
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
