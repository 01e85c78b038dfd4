package io.stele.outputformat;

import io.stele.client.Stele;
import io.stele.client.SubmittedOutput;
import io.stele.client.Table;
import io.stele.config.JobKeys;
import io.stele.config.SubmittedKey;
import io.stele.model.ColumnFamily;
import io.stele.model.Limits;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;

/**
 * A table that a job writes to. In the job's configuration it is {@code table} or {@code
 * table:family:family}, with the families encoded as in a URL, because a family's name may contain
 * a comma, or text that a configuration would replace.
 *
 * @param name the table's name
 * @param families to be checked at submission
 */
record OutputTable(String name, List<String> families) {
  /** Where the tables of a job are, separated by commas. */
  static final String KEY = JobKeys.Internal.OUTPUT_TABLES;

  private static final SubmittedKey TABLES = new SubmittedKey(KEY);

  /** The id of a table when the job was submitted; its name follows the prefix. */
  private static final String ID_KEY = JobKeys.Internal.OUTPUT_TABLE_ID;

  OutputTable {
    Limits.checkTableName(name);
  }

  /**
   * Forgets the tables of another job, if this job has a copy of its configuration from after it
   * was submitted.
   */
  static void beginAnew(Job job) {
    Configuration conf = job.getConfiguration();
    if (job.getJobID() == null) { // Otherwise it is the same job, whose submission has failed.
      if (TABLES.isSubmitted(conf)) {
        all(conf).forEach(other -> conf.unset(ID_KEY + other.name()));
      }
      TABLES.beginAnew(conf);
    }
  }

  /**
   * Notes that a job with these tables is submitted, and with the tables that it reads: {@code
   * MultipleInputs} gives input formats a copy of the configuration, where they would note it.
   */
  static void setSubmitted(Configuration conf) {
    TABLES.setSubmitted(conf);
    new SubmittedKey(JobKeys.Internal.INPUT_SCANS).setSubmitted(conf);
    new SubmittedKey(JobKeys.Internal.INPUT_PINNED_BESIDE).setSubmitted(conf);
  }

  /** Adds a table to a job's; if it is there already, only the families are added. */
  static void add(Configuration conf, OutputTable table) {
    SubmittedOutput.clear(conf);
    String text = table.name();
    for (String family : table.families()) {
      text += ":" + URLEncoder.encode(family, StandardCharsets.UTF_8);
    }
    TABLES.add(conf, text);
  }

  /**
   * The tables of a job, each once, however often it was added.
   *
   * @throws SteleException REFUSED if it has none
   */
  static List<OutputTable> all(Configuration conf) {
    Map<String, Set<String>> tables = new LinkedHashMap<>();
    for (String text : conf.getTrimmedStrings(KEY)) {
      List<String> parts = List.of(text.split(":"));
      Set<String> families = tables.computeIfAbsent(parts.get(0), name -> new LinkedHashSet<>());
      parts.stream()
          .skip(1)
          .map(family -> URLDecoder.decode(family, StandardCharsets.UTF_8))
          .forEach(families::add);
    }
    if (tables.isEmpty()) {
      throw SteleException.refused(
          "the job writes to tables but names none: call TableOutputFormat.addTable, or that of"
              + " BulkOutputFormat");
    }
    return tables.entrySet().stream()
        .map(table -> new OutputTable(table.getKey(), List.copyOf(table.getValue())))
        .toList();
  }

  /**
   * Checks that the tables of a job exist, with their families, and remembers which tables they
   * are: a table that gets the name later is another.
   *
   * @throws SteleException NOT_FOUND if one is not, REFUSED if the job has none
   */
  static void identifyAll(Stele stele, Configuration conf) throws IOException {
    for (OutputTable output : all(conf)) {
      Table table = stele.table(output.name());
      output.check(table.schema());
      conf.set(ID_KEY + output.name(), table.id().value());
    }
  }

  /**
   * The table that had the name when the job was submitted.
   *
   * @throws SteleException NOT_FOUND if there is none of that name, REFUSED if it is another
   */
  static Table open(Stele stele, Configuration conf, String name) throws IOException {
    Table table = stele.table(name);
    String id = conf.getTrimmed(ID_KEY + name, "");
    if (!id.isEmpty() && !id.equals(table.id().value())) {
      throw SteleException.refused(
          "table "
              + name
              + " was dropped, and another was made of that name, since the job was submitted:"
              + " submit it again if it is to write to the new one");
    }
    return table;
  }

  private void check(TableSchema schema) {
    for (String family : families) {
      if (schema.family(family).isEmpty()) {
        throw SteleException.notFound(
            "the job writes to family "
                + family
                + " of table "
                + name
                + ", which has only "
                + String.join(", ", schema.families().stream().map(ColumnFamily::name).toList())
                + ": add the family, or correct the job's output table");
      }
    }
  }
}
