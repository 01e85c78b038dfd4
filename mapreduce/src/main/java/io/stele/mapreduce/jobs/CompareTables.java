package io.stele.mapreduce.jobs;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.JobKeys;
import io.stele.inputformat.TableInputFormat;
import io.stele.inputformat.TableSplit;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.wire.QueryCodec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;

/**
 * Compares two tables, cell by cell: rows, families, qualifiers, timestamps, values.
 *
 * <p>Both are read as they were when the job was submitted; each tablet as of one moment during the
 * submission, which may differ from tablet to tablet. So a row that is written during the
 * submission may differ only because of that.
 *
 * @param input the first table, and which part of it; the same part of the second table is read
 * @param with the second table's name
 */
public record CompareTables(TableInput input, String with) implements TableJob {
  private static final String WITH_KEY = JobKeys.Internal.COMPARE_WITH;
  private static final String ID_KEY = JobKeys.Internal.COMPARE_WITH_ID;
  private static final String QUERY_KEY = JobKeys.Internal.COMPARE_QUERY;

  /** How many differences a task and the report name. */
  private static final int NAMED_MAX = 20;

  @Override
  public Job prepare(Configuration conf) throws IOException {
    String id;
    try (Stele stele = Stele.connect(conf)) {
      Table second = stele.table(with);
      second.checkFamilies(input.query());
      id = second.id().value();
    }
    Job job = CompleteJob.create(conf, "compare table " + input.table() + " with " + with);
    input.addTo(job);
    TableInputFormat.pinBeside(job, with, input.query());
    job.getConfiguration().set(WITH_KEY, with);
    job.getConfiguration().set(ID_KEY, id);
    job.getConfiguration().set(QUERY_KEY, QueryCodec.toText(input.query()));
    job.setMapperClass(CompareMapper.class);
    job.setNumReduceTasks(0);
    JobDirectory.setOutput(job);
    return job;
  }

  @Override
  public Report report(Job finished) throws IOException {
    Counters counters = CompleteJob.counters(finished);
    long different = 0;
    List<String> lines = new ArrayList<>();
    for (RowComparison.Outcome counter : RowComparison.Outcome.values()) {
      long rows = counters.findCounter(counter).getValue();
      different += counter == RowComparison.Outcome.SAME ? 0 : rows;
      lines.add(RowComparison.line(rows, text(counter)));
    }
    List<String> named = JobDirectory.firstLines(finished, NAMED_MAX);
    lines.addAll(named);
    if (different > named.size()) {
      lines.add("... and more");
    }
    return new Report(different == 0 ? Verdict.GOOD : Verdict.DIFFERENT, lines);
  }

  private String text(RowComparison.Outcome counter) {
    return switch (counter) {
      case SAME -> "the same";
      case DIFFERENT -> "different";
      case ONLY_IN_FIRST -> "only in " + input.table();
      case ONLY_IN_SECOND -> "only in " + with;
    };
  }

  @Override
  public void cleanUp(Job job) throws IOException {
    JobDirectory.delete(job);
  }

  /** Reads the second table beside the first. */
  static final class CompareMapper extends Mapper<Bytes, Row, NullWritable, Text> {
    private final Map<RowComparison.Outcome, Counter> counters =
        new EnumMap<>(RowComparison.Outcome.class);
    private int named;

    @Override
    public void run(Context context) throws IOException, InterruptedException {
      for (RowComparison.Outcome outcome : RowComparison.Outcome.values()) {
        counters.put(outcome, context.getCounter(outcome));
      }
      Configuration conf = context.getConfiguration();
      TableSplit split = (TableSplit) context.getInputSplit();
      // An empty value, which stands for all there is, comes back as none.
      String text = conf.getTrimmed(QUERY_KEY, "");
      RowQuery query = QueryCodec.ofText(text).withRanges(split.ranges());
      try (Stele stele = Stele.connect(conf, context::progress);
          Rows rows = second(stele, conf, split).withoutCaching().readRows(query)) {
        RowComparison.run(
            RowComparison.Source.input(context),
            rows::readWithoutTimeout,
            row -> tell(row, split.table(), context));
      }
    }

    private static Table second(Stele stele, Configuration conf, TableSplit split)
        throws IOException {
      Table table = stele.table(conf.get(WITH_KEY));
      if (!table.id().value().equals(conf.get(ID_KEY))) {
        throw SteleException.refused(
            "table "
                + table.name()
                + " was dropped and made again since it was to be compared: run the comparison again");
      }
      return split.pin().map(table::atPin).orElse(table);
    }

    private void tell(RowComparison.Compared row, String first, Context context)
        throws IOException, InterruptedException {
      Objects.requireNonNull(counters.get(row.outcome())).increment(1);
      if (row.outcome() != RowComparison.Outcome.SAME && named < NAMED_MAX) {
        named++;
        context.write(
            NullWritable.get(),
            new Text(row.line(first, context.getConfiguration().get(WITH_KEY, ""))));
      }
    }
  }
}
