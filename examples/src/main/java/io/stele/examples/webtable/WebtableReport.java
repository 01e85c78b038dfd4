package io.stele.examples.webtable;

import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.examples.Program;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;

/**
 * Summarizes the Webtable: how many pages and links it has, which pages are linked to most and with
 * what words, and which tablets it has and which servers serve them.
 */
public final class WebtableReport extends Program {
  private static final String TABLE = "webtable.report.table";
  private static final String LANGUAGES = "webtable languages";

  /** The report's file in the output directory. */
  public static final String FILE = "report.txt";

  /** What the mappers count. */
  enum Figure {
    PAGES,
    PAGE_BYTES,
    ANCHORS,
    REFERRED_PAGES
  }

  /**
   * The table, summed up.
   *
   * @param pages rows with a page
   * @param pageBytes what the pages hold, in bytes
   * @param links anchors in all rows
   * @param referredPages rows with an anchor
   * @param cells cells in all rows
   * @param bytes of row keys, qualifiers and values in all rows
   * @param pagesByLanguage by language
   * @param topPages the most linked-to pages of the table, the first first
   * @param topElsewhere the same for pages that are not in the table
   * @param tablets the tablets when the job was done
   * @param file the report's file
   */
  public record Result(
      long pages,
      long pageBytes,
      long links,
      long referredPages,
      long cells,
      long bytes,
      Map<String, Long> pagesByLanguage,
      List<TopPage> topPages,
      List<TopPage> topElsewhere,
      List<TabletInfo> tablets,
      Path file) {}

  /** The job, ready to be submitted. The output directory must not exist. */
  public static Job job(Configuration conf, String table, Path outputDirectory) throws IOException {
    Job job = SteleJob.create(conf, "webtable: report", WebtableReport.class);
    job.getConfiguration().set(TABLE, table);
    TableInputFormat.addTable(job, table, RowQuery.ALL.versions(1));
    job.setMapperClass(PageMapper.class);
    job.setReducerClass(TopReducer.class);
    job.setNumReduceTasks(1);
    job.setMapOutputKeyClass(IntWritable.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputFormatClass(TextOutputFormat.class);
    FileOutputFormat.setOutputPath(job, outputDirectory);
    return job;
  }

  /** What a finished job has found; also writes the report's file. */
  public static Result result(Job finished) throws IOException {
    Configuration conf = finished.getConfiguration();
    Path directory = FileOutputFormat.getOutputPath(finished);
    FileSystem fs = directory.getFileSystem(conf);
    Counters counters = finished.getCounters();
    Map<String, Long> languages = new TreeMap<>();
    for (Counter counter : counters.getGroup(LANGUAGES)) {
      languages.put(counter.getName(), counter.getValue());
    }
    List<TopPage> top = top(fs, directory);
    String table = conf.get(TABLE);
    Result result =
        new Result(
            counters.findCounter(Figure.PAGES).getValue(),
            counters.findCounter(Figure.PAGE_BYTES).getValue(),
            counters.findCounter(Figure.ANCHORS).getValue(),
            counters.findCounter(Figure.REFERRED_PAGES).getValue(),
            counters.findCounter(TableInputFormat.Counter.CELLS).getValue(),
            counters.findCounter(TableInputFormat.Counter.BYTES).getValue(),
            languages,
            top.stream().filter(TopPage::inTable).toList(),
            top.stream().filter(page -> !page.inTable()).toList(),
            tablets(conf, table),
            new Path(directory, FILE));
    try (FSDataOutputStream out = fs.create(result.file(), true)) {
      out.write(new ReportText(table, result).toString().getBytes(StandardCharsets.UTF_8));
    }
    return result;
  }

  private static List<TopPage> top(FileSystem fs, Path directory) throws IOException {
    List<TopPage> top = new ArrayList<>();
    for (FileStatus part : fs.globStatus(new Path(directory, "part-r-*"))) {
      try (var in = fs.open(part.getPath())) {
        String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        text.lines().map(TopPage::parse).forEach(top::add);
      }
    }
    return top;
  }

  private static List<TabletInfo> tablets(Configuration conf, String table) throws IOException {
    try (Stele stele = Stele.connect(conf)) {
      return stele.table(table).tablets();
    }
  }

  @Override
  protected String usage() {
    return """
        webtable-report TABLE DIR

        Sums up the table in DIR/report.txt. There must be no DIR yet.
        """;
  }

  @Override
  protected void work(List<String> arguments) throws Exception {
    if (arguments.size() != 2) {
      throw new WrongUsage("which table, and which directory?");
    }
    Job job = complete(job(getConf(), arguments.get(0), new Path(arguments.get(1))));
    System.out.print(new ReportText(arguments.get(0), result(job)));
  }

  /** Runs the program. */
  public static void main(String[] args) throws Exception {
    main(new WebtableReport(), args);
  }

  /** Counts, and keeps the most linked-to pages among those it sees. */
  static final class PageMapper extends Mapper<Bytes, Row, IntWritable, Text> {
    private final TopPages top = new TopPages();

    @Override
    protected void map(Bytes key, Row row, Context context) {
      boolean inTable = false;
      for (Cell cell : row.cells()) {
        if (cell.family().equals(Webtable.CONTENTS)) {
          inTable = true;
          context.getCounter(Figure.PAGES).increment(1);
          context.getCounter(Figure.PAGE_BYTES).increment(cell.value().length());
        } else if (cell.family().equals(Webtable.LANGUAGE)) {
          context.getCounter(LANGUAGES, cell.value().toUtf8()).increment(1);
        }
      }
      List<Cell> anchors = row.family(Webtable.ANCHOR);
      if (!anchors.isEmpty()) {
        context.getCounter(Figure.REFERRED_PAGES).increment(1);
        context.getCounter(Figure.ANCHORS).increment(anchors.size());
        top.add(TopPage.of(key.toUtf8(), inTable, anchors));
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      for (TopPage page : top.inOrder()) {
        context.write(new IntWritable(-page.referrers()), new Text(page.format()));
      }
    }
  }

  /** Keeps the most linked-to pages of all; there is one such reducer. */
  static final class TopReducer extends Reducer<IntWritable, Text, Text, NullWritable> {
    private final TopPages top = new TopPages();

    @Override
    protected void reduce(IntWritable key, Iterable<Text> pages, Context context) {
      for (Text page : pages) {
        top.add(TopPage.parse(page.toString()));
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      for (TopPage page : top.inOrder()) {
        context.write(new Text(page.format()), NullWritable.get());
      }
    }
  }
}
