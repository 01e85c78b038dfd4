package io.stele.mapreduce.jobs;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.JobKeys;
import io.stele.model.Amount;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.Limits;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;

/**
 * Writes lines of text to a table: one row for each line, one column for each field. Empty fields
 * are left out.
 *
 * @param files the files to read, as a Hadoop glob
 * @param output the table, which has the families
 * @param fields what each field is: {@code ROW} once, {@code family:qualifier}, or {@code -} to
 *     leave the field out
 * @param separator between fields; one character
 * @param skipBadLines whether lines with another number of fields, or whose row is empty or too
 *     long, are counted and left out; otherwise they fail the job. A quote in a wrong place fails
 *     it in any case: the line may be part of a field that has line breaks, and so may the next
 * @param format how fields are written
 */
public record ImportText(
    Path files,
    TableOutput output,
    List<String> fields,
    char separator,
    boolean skipBadLines,
    Format format)
    implements TableJob {
  /** How the fields of a line are written. */
  public enum Format {
    /** As they are: none contains the separator. */
    PLAIN,
    /** A field that begins with a quote ends with one, and may contain the separator. */
    CSV
  }

  /** The field with the row key. */
  public static final String ROW = "ROW";

  /** A field that is left out. */
  public static final String NONE = "-";

  /** How much of a bad line a message shows. */
  private static final int SHOWN_BYTES = 80;

  private static final String ABOUT_QUOTES =
      ". A wrong quote fails the job also with --skip-bad-lines, as lines of one field may be taken"
          + " for records. Put the field in quotes, and write two for each that it has; or, if"
          + " quotes mean nothing in these files, use --format plain";

  private static final String FIELDS_KEY = JobKeys.Internal.TEXT_FIELDS;
  private static final String SEPARATOR_KEY = JobKeys.Internal.TEXT_SEPARATOR;
  private static final String SKIP_KEY = JobKeys.Internal.TEXT_SKIP;
  private static final String FORMAT_KEY = JobKeys.Internal.TEXT_FORMAT;

  /**
   * Checks the fields.
   *
   * @throws SteleException REFUSED if they do not name the row exactly once, or one is not a
   *     column, or a column is named twice, or there is none; or if quotes would separate fields
   *     that may be in quotes
   */
  public ImportText {
    fields = List.copyOf(fields);
    if (format == Format.CSV && separator == '"') {
      throw SteleException.refused("a quote cannot separate the fields of CSV: use another");
    }
    if (fields.stream().filter(ROW::equals).count() != 1) {
      throw SteleException.refused(
          "the fields are "
              + String.join(",", fields)
              + ": one of them must be "
              + ROW
              + ", the others FAMILY:QUALIFIER or "
              + NONE);
    }
    for (String field : fields) {
      if (!field.equals(ROW) && !field.equals(NONE) && field.indexOf(':') < 1) {
        throw SteleException.refused(
            "field \"" + field + "\" is neither " + ROW + ", FAMILY:QUALIFIER nor " + NONE);
      }
    }
    List<String> columns = fields.stream().filter(field -> field.indexOf(':') > 0).toList();
    if (columns.isEmpty() || columns.stream().distinct().count() < columns.size()) {
      throw SteleException.refused(
          "the fields are "
              + String.join(",", fields)
              + ": name at least one FAMILY:QUALIFIER, and none of them twice");
    }
  }

  /** An import of plain fields. */
  public ImportText(
      Path files, TableOutput output, List<String> fields, char separator, boolean skipBadLines) {
    this(files, output, fields, separator, skipBadLines, Format.PLAIN);
  }

  /** An import of plain fields that adds to the existing rows. */
  public ImportText(
      Path files,
      String table,
      List<String> fields,
      char separator,
      boolean skipBadLines,
      boolean dryRun) {
    this(files, new TableOutput(table, dryRun, false), fields, separator, skipBadLines);
  }

  @Override
  public Job prepare(Configuration conf) throws IOException {
    String table = output.table();
    try (Stele stele = Stele.connect(conf)) {
      Table into = stele.table(table);
      RowQuery query = RowQuery.ALL;
      for (String field : fields) {
        if (field.indexOf(':') > 0) {
          query = query.family(Column.parse(field).family());
        }
      }
      into.checkFamilies(query);
    }
    Job job = CompleteJob.create(conf, "import " + files + " into table " + table);
    job.setInputFormatClass(TextInputFormat.class);
    FileInputFormat.addInputPath(job, files);
    // A family's name may have a comma, or text that a configuration would replace.
    job.getConfiguration()
        .setStrings(
            FIELDS_KEY,
            fields.stream()
                .map(field -> URLEncoder.encode(field, StandardCharsets.UTF_8))
                .toArray(String[]::new));
    job.getConfiguration().setInt(SEPARATOR_KEY, separator);
    job.getConfiguration().setBoolean(SKIP_KEY, skipBadLines);
    job.getConfiguration().setEnum(FORMAT_KEY, format);
    job.setMapperClass(LineMapper.class);
    Written.of(output).addTo(job);
    return job;
  }

  @Override
  public Report report(Job finished) throws IOException {
    List<String> lines = new ArrayList<>(Written.of(output).lines(finished));
    Counters counters = CompleteJob.counters(finished);
    long bad = counters.findCounter(MutationMapper.Counter.BAD_LINES).getValue();
    if (bad > 0) {
      lines.add(Amount.of(bad, "line") + (bad == 1 ? " was" : " were") + " left out.");
      if (bad == counters.findCounter(TaskCounter.MAP_INPUT_RECORDS).getValue()) {
        lines.add(
            "No line has "
                + Amount.of(fields.size(), "field")
                + " and a row key: does another character separate fields (--separator)"
                + (format == Format.PLAIN ? "?" : ", or are they not in quotes (--format plain)?"));
      }
    }
    return Report.good(lines);
  }

  /** Writes each line's fields. */
  static final class LineMapper extends MutationMapper<LongWritable, Text> {
    private List<String> fields = List.of();
    private TextFields lines = new TextFields(new byte[] {'\t'}, Format.PLAIN);
    private boolean skip;

    @Override
    protected void setup(Context context) {
      Configuration conf = context.getConfiguration();
      fields =
          Arrays.stream(conf.getStrings(FIELDS_KEY, ROW))
              .map(field -> URLDecoder.decode(field, StandardCharsets.UTF_8))
              .toList();
      byte[] separator =
          String.valueOf((char) conf.getInt(SEPARATOR_KEY, '\t')).getBytes(StandardCharsets.UTF_8);
      lines = new TextFields(separator, conf.getEnum(FORMAT_KEY, Format.PLAIN));
      skip = conf.getBoolean(SKIP_KEY, false);
    }

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      List<Bytes> values;
      try {
        values = lines.split(line);
      } catch (TextFields.BadQuotesException e) {
        throw refused(offset, line, e.getMessage() + ABOUT_QUOTES, context);
      }
      Bytes row = values.size() == fields.size() ? values.get(fields.indexOf(ROW)) : Bytes.EMPTY;
      if (row.isEmpty() || row.length() > Limits.ROW_BYTES_MAX) {
        leaveOut(offset, line, whyBad(values, fields), context);
        return;
      }
      List<Cell> cells = new ArrayList<>();
      for (int i = 0; i < values.size(); i++) {
        if (fields.get(i).indexOf(':') > 0 && !values.get(i).isEmpty()) {
          Column column = Column.parse(fields.get(i));
          cells.add(
              new Cell(column.family(), column.qualifier(), Edit.SERVER_TIMESTAMP, values.get(i)));
        }
      }
      write(row, cells, context);
    }

    private void leaveOut(LongWritable offset, Text line, String why, Context context) {
      if (!skip) {
        String advice = ". Correct it, or leave such lines out (--skip-bad-lines)";
        throw refused(offset, line, why + advice, context);
      }
      context.getCounter(Counter.BAD_LINES).increment(1);
    }

    private static SteleException refused(
        LongWritable offset, Text line, String why, Context context) {
      return SteleException.refused(
          "the line at byte "
              + offset
              + " of "
              + file(context.getInputSplit())
              + ", \""
              + beginning(line)
              + "\", "
              + why);
    }
  }

  private static String file(InputSplit split) {
    return split instanceof FileSplit part ? part.getPath().toString() : split.toString();
  }

  private static String beginning(Text line) {
    int length = Math.min(line.getLength(), SHOWN_BYTES);
    return Bytes.of(line.getBytes(), 0, length) + (length < line.getLength() ? "..." : "");
  }

  /** Why a line with {@code values} cannot be written. */
  static String whyBad(List<Bytes> values, List<String> fields) {
    if (values.size() != fields.size()) {
      return "has "
          + Amount.of(values.size(), "field")
          + ", but --fields names "
          + fields.size()
          + (values.size() == 1 ? " (--separator says what separates them)" : "");
    }
    Bytes row = values.get(fields.indexOf(ROW));
    return row.isEmpty()
        ? "has an empty row key"
        : "has a row key of " + row.length() + " bytes, above " + Limits.ROW_BYTES_MAX;
  }
}
