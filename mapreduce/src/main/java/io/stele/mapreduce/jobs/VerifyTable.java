package io.stele.mapreduce.jobs;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.JobKeys;
import io.stele.direct.FileCheck;
import io.stele.inputformat.TableInputFormat;
import io.stele.inputformat.TableSplit;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.wire.QueryCodec;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;

/**
 * Verifies the stored data of a table, as it was when the job was submitted:
 *
 * <ul>
 *   <li>every block of every file: checksums, the order of cells, index, Bloom filter, properties;
 *   <li>that each file agrees with the record of its tablet;
 *   <li>that tablet servers return the same rows as the files, cell by cell, with all versions.
 * </ul>
 *
 * <p>It reports every damaged or missing file, and continues with the others.
 *
 * @param table its name
 * @param rows the rows to compare; all files of a tablet with any of these rows are verified
 */
public record VerifyTable(String table, RowRange rows) implements TableJob {
  private static final String QUERY_KEY = JobKeys.Internal.VERIFY_QUERY;

  /** How many findings a task and the report name. */
  private static final int NAMED_MAX = 100;

  /** What was verified. */
  enum Counter {
    /** Files without damage. */
    SOUND_FILES,
    /** Their bytes. */
    SOUND_BYTES,
    /** Files that are damaged or missing. */
    DAMAGED_FILES,
    /** Tasks that could not compare all their rows. */
    NOT_COMPARED
  }

  /** All of a table. */
  public VerifyTable(String table) {
    this(table, RowRange.ALL);
  }

  @Override
  public Job prepare(Configuration conf) throws IOException {
    Job job = CompleteJob.create(conf, "verify table " + table);
    job.getConfiguration().set(TableInputFormat.MODE_KEY, "direct");
    RowQuery query = RowQuery.ALL.range(rows);
    job.getConfiguration().set(QUERY_KEY, QueryCodec.toText(query));
    new TableInput(table, query).addTo(job);
    job.setMapperClass(VerifyMapper.class);
    job.setNumReduceTasks(0);
    JobDirectory.setOutput(job);
    return job;
  }

  @Override
  public Report report(Job finished) throws IOException {
    Counters counters = CompleteJob.counters(finished);
    List<String> lines = new ArrayList<>();
    long damaged = count(counters, Counter.DAMAGED_FILES);
    lines.add(
        String.format(
            Locale.ROOT,
            "%,15d files are sound, %,d bytes",
            count(counters, Counter.SOUND_FILES),
            count(counters, Counter.SOUND_BYTES)));
    lines.add(String.format(Locale.ROOT, "%,15d files are damaged or missing", damaged));
    boolean good = damaged == 0 && count(counters, Counter.NOT_COMPARED) == 0;
    for (RowComparison.Outcome outcome : RowComparison.Outcome.values()) {
      long compared = count(counters, outcome);
      good &= outcome == RowComparison.Outcome.SAME || compared == 0;
      lines.add(RowComparison.line(compared, text(outcome)));
    }
    List<String> named = JobDirectory.firstLines(finished, NAMED_MAX + 1);
    named.stream().limit(NAMED_MAX).forEach(lines::add);
    if (named.size() > NAMED_MAX) {
      lines.add("... and more");
    }
    return new Report(good ? Verdict.GOOD : Verdict.DAMAGED, lines);
  }

  private static long count(Counters counters, Enum<?> counter) {
    return counters.findCounter(counter).getValue();
  }

  private static String text(RowComparison.Outcome outcome) {
    return switch (outcome) {
      case SAME -> "the same in files and from tablet servers";
      case DIFFERENT -> "different in files and from tablet servers";
      case ONLY_IN_FIRST -> "only in files";
      case ONLY_IN_SECOND -> "only in what tablet servers return";
    };
  }

  @Override
  public void cleanUp(Job job) throws IOException {
    JobDirectory.delete(job);
  }

  /** Whether rows cannot be read because of their files, whoever reads them and when. */
  static boolean isDamage(Throwable failure) {
    for (Throwable why = failure; why != null; why = why.getCause()) {
      if (why instanceof CorruptionException
          || why instanceof FileNotFoundException
          || (why instanceof SteleException told && told.code() == Code.CORRUPTION)) {
        return true;
      }
    }
    return false;
  }

  /** Checks the files of tablets that begin in its split, and compares the split's rows. */
  static final class VerifyMapper extends Mapper<Bytes, Row, NullWritable, Text> {
    private int named;
    private Bytes last = Bytes.EMPTY; // That was compared.

    @Override
    public void run(Context context) throws IOException, InterruptedException {
      Configuration conf = context.getConfiguration();
      TableSplit split = (TableSplit) context.getInputSplit();
      try (Stele stele = Stele.connect(conf, context::progress)) {
        Table table = stele.table(split.table()).atPin(split.pin().orElseThrow());
        checkFiles(table, split, context);
        compareRows(table, split, context);
      }
    }

    private void checkFiles(Table table, TableSplit split, Context context)
        throws IOException, InterruptedException {
      RowRange asked =
          QueryCodec.ofText(context.getConfiguration().getTrimmed(QUERY_KEY, "")).ranges().get(0);
      FileCheck check = new FileCheck(table);
      for (RowRange range : split.ranges()) {
        check.run(range, asked);
      }
      for (FileCheck.Checked file : check.files()) {
        boolean sound = file.problems().isEmpty();
        context.getCounter(sound ? Counter.SOUND_FILES : Counter.DAMAGED_FILES).increment(1);
        context.getCounter(Counter.SOUND_BYTES).increment(sound ? file.bytes() : 0);
        for (String problem : file.problems()) {
          name("damaged: " + file.path() + " " + problem, context);
        }
      }
    }

    /** The job's input is read from files. */
    private void compareRows(Table table, TableSplit split, Context context)
        throws IOException, InterruptedException {
      RowQuery query = RowQuery.ALL.withRanges(split.ranges());
      try (Rows served = table.readRows(query)) {
        RowComparison.run(
            RowComparison.Source.input(context),
            served::readWithoutTimeout,
            row -> {
              context.getCounter(row.outcome()).increment(1);
              last = row.row();
              if (row.outcome() != RowComparison.Outcome.SAME) {
                name(row.line("files", "tablet servers"), context);
              }
            });
      } catch (SteleException | IOException e) {
        if (!isDamage(e)) {
          throw e; // Another attempt may read them; if none can, the job fails and says why.
        }
        notCompared(e, split, context);
      }
    }

    private void notCompared(Exception why, TableSplit split, Context context)
        throws IOException, InterruptedException {
      context.getCounter(Counter.NOT_COMPARED).increment(1);
      Bytes end = split.ranges().get(split.ranges().size() - 1).end();
      name(
          "not compared: rows "
              + new RowRange(last.isEmpty() ? split.ranges().get(0).start() : last, end)
              + ": "
              + why.getMessage(),
          context);
    }

    private void name(String finding, Context context) throws IOException, InterruptedException {
      if (named < NAMED_MAX) {
        named++;
        context.write(NullWritable.get(), new Text(finding));
      }
    }
  }
}
