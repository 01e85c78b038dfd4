package io.stele.mapreduce.jobs;

import io.stele.config.JobKeys;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Statistics of a table by family: rows, columns, cells, versions and sizes; and of each family the
 * row key prefixes with the most bytes.
 *
 * @param input the part of the table that is read; versions beyond the limit in it are not counted
 * @param prefixBytes how long these prefixes are, at least 1
 */
public record TableStatistics(TableInput input, int prefixBytes) implements TableJob {
  /**
   * Statistics with prefixes of this length.
   *
   * @throws SteleException REFUSED if it is below 1
   */
  public TableStatistics {
    if (prefixBytes < 1) {
      throw SteleException.refused("prefixes need at least 1 byte, not " + prefixBytes);
    }
  }

  private static final String PREFIX_KEY = JobKeys.Internal.STATS_PREFIX_BYTES;
  private static final int PREFIXES_SHOWN = 10;
  private static final String FAMILY = "F";
  private static final String PREFIX = "P";

  @Override
  public Job prepare(Configuration conf) throws IOException {
    Job job = CompleteJob.create(conf, "statistics of table " + input.table());
    input.addTo(job);
    job.getConfiguration().setInt(PREFIX_KEY, prefixBytes);
    job.setMapperClass(StatisticsMapper.class);
    job.setCombinerClass(SumReducer.class);
    job.setReducerClass(TopReducer.class);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Statistics.class);
    job.setNumReduceTasks(1); // It sees all beginnings, and says which are the largest.
    JobDirectory.setOutput(job);
    return job;
  }

  @Override
  public Report report(Job finished) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add(CountRows.Result.of(finished).text() + ".");
    lines.add("");
    lines.addAll(JobDirectory.lines(finished));
    return Report.good(lines);
  }

  @Override
  public void cleanUp(Job job) throws IOException {
    JobDirectory.delete(job);
  }

  /** Adds up a split. */
  static final class StatisticsMapper extends Mapper<Bytes, Row, Text, Statistics> {
    private final Map<String, Statistics> families = new TreeMap<>();
    private final Map<String, Statistics> ofPrefix = new TreeMap<>(); // By family.
    private Bytes prefix = Bytes.EMPTY;

    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      int length = Math.min(key.length(), context.getConfiguration().getInt(PREFIX_KEY, 8));
      if (!key.slice(0, length).equals(prefix)) { // Rows are sorted: it will not come again.
        writePrefix(context);
        prefix = key.slice(0, length).compact();
      }
      int start = 0;
      String family = "";
      Statistics hot = new Statistics();
      for (int i = 0; i < row.cells().size(); i++) {
        Cell cell = row.cells().get(i);
        Statistics statistics = families.computeIfAbsent(cell.family(), name -> new Statistics());
        if (!cell.family().equals(family)) {
          family = cell.family();
          statistics.addRow();
          hot = ofPrefix.computeIfAbsent(family, name -> new Statistics());
          hot.addRow();
          hot.addKeyBytes(key.length());
        }
        statistics.addBytes(cell.qualifier().length(), cell.value().length());
        hot.addBytes(cell.qualifier().length(), cell.value().length());
        if (i + 1 == row.cells().size() || !isSameColumn(cell, row.cells().get(i + 1))) {
          statistics.addColumn(i + 1 - start);
          hot.addColumn(i + 1 - start);
          start = i + 1;
        }
      }
    }

    private static boolean isSameColumn(Cell one, Cell other) {
      return one.family().equals(other.family()) && one.qualifier().equals(other.qualifier());
    }

    private void writePrefix(Context context) throws IOException, InterruptedException {
      for (Map.Entry<String, Statistics> family : ofPrefix.entrySet()) {
        context.write(new Text(PREFIX + family.getKey() + ":" + prefix), family.getValue());
      }
      ofPrefix.clear();
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      writePrefix(context);
      for (Map.Entry<String, Statistics> family : families.entrySet()) {
        context.write(new Text(FAMILY + family.getKey()), family.getValue());
      }
    }
  }

  private static Statistics sum(Iterable<Statistics> parts) {
    Statistics sum = new Statistics();
    parts.forEach(sum::add);
    return sum;
  }

  /** Adds up. */
  static final class SumReducer extends Reducer<Text, Statistics, Text, Statistics> {
    @Override
    protected void reduce(Text key, Iterable<Statistics> parts, Context context)
        throws IOException, InterruptedException {
      context.write(key, sum(parts));
    }
  }

  /** Says what there is of each family, and which prefixes have most bytes in it. */
  static final class TopReducer extends Reducer<Text, Statistics, NullWritable, Text> {
    private record Prefix(String text, Statistics statistics) {}

    private static final Comparator<Prefix> BY_BYTES =
        Comparator.<Prefix>comparingLong(one -> one.statistics().bytes())
            .thenComparing(Prefix::text);

    private final Map<String, PriorityQueue<Prefix>> largest = new TreeMap<>(); // By family.

    @Override
    protected void setup(Context context) throws IOException, InterruptedException {
      say(
          context,
          "%-20s %15s %15s %15s %9s %18s %12s",
          "family",
          "rows",
          "columns",
          "cells",
          "versions",
          "bytes without keys",
          "largest");
    }

    @Override
    protected void reduce(Text key, Iterable<Statistics> parts, Context context)
        throws IOException, InterruptedException {
      Statistics sum = sum(parts);
      String name = key.toString().substring(1);
      if (key.toString().startsWith(FAMILY)) {
        say(
            context,
            "%-20s %,15d %,15d %,15d %,9d %,18d %,12d",
            name,
            sum.rows(),
            sum.columns(),
            sum.cells(),
            sum.versionsMax(),
            sum.bytes(),
            sum.valueBytesMax());
      } else {
        int colon = name.indexOf(':'); // No family has one in its name.
        PriorityQueue<Prefix> ofFamily =
            largest.computeIfAbsent(
                name.substring(0, colon), family -> new PriorityQueue<>(BY_BYTES));
        ofFamily.add(new Prefix(name.substring(colon + 1), sum));
        if (ofFamily.size() > PREFIXES_SHOWN) {
          ofFamily.remove();
        }
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      say(context, "");
      say(
          context,
          "%-20s %-36s %15s %15s %18s",
          "family",
          "rows that begin with",
          "rows",
          "cells",
          "bytes with keys");
      for (Map.Entry<String, PriorityQueue<Prefix>> family : largest.entrySet()) {
        List<Prefix> sorted = new ArrayList<>(family.getValue());
        sorted.sort(BY_BYTES.reversed());
        for (Prefix one : sorted) {
          Statistics sum = one.statistics();
          say(
              context,
              "%-20s %-36s %,15d %,15d %,18d",
              family.getKey(),
              one.text(),
              sum.rows(),
              sum.cells(),
              sum.bytes());
        }
      }
    }

    private static void say(Context context, String format, Object... values)
        throws IOException, InterruptedException {
      context.write(NullWritable.get(), new Text(String.format(Locale.ROOT, format, values)));
    }
  }
}
