package io.stele.outputformat;

import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/**
 * A table that a job writes to; in its configuration as {@code table} or {@code
 * table:family:family}.
 *
 * @param name the table's name
 * @param families to be checked at submission
 */
record OutputTable(String name, List<String> families) {
  /** Where the tables of a job are, separated by commas. */
  static final String KEY = "mapreduce.stele.output.tables";

  /** Adds a table to a job's. */
  static void add(Configuration conf, OutputTable table) {
    String text = table.name();
    for (String family : table.families()) {
      text += ":" + family;
    }
    String before = conf.get(KEY, "");
    conf.set(KEY, before.isEmpty() ? text : before + "," + text);
  }

  /**
   * The tables of a job.
   *
   * @throws SteleException REFUSED if it has none
   */
  static List<OutputTable> all(Configuration conf) {
    List<OutputTable> tables = new ArrayList<>();
    for (String text : conf.getTrimmedStrings(KEY)) {
      List<String> parts = List.of(text.split(":"));
      tables.add(new OutputTable(parts.get(0), parts.subList(1, parts.size())));
    }
    if (tables.isEmpty()) {
      throw SteleException.refused(
          "the job has TableOutputFormat but no table to write to: call"
              + " TableOutputFormat.addTable");
    }
    return tables;
  }
}
