package io.stele.examples.webtable;

import io.stele.examples.Program;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;

/**
 * Fills the Webtable with the pages in {@code javadoc} jars, as if they were at {@code
 * hadoop.apache.org/docs/<artifact>/}.
 *
 * <p>Loading again writes further versions of the same pages.
 */
public final class WebtableLoad extends Program {
  private static final String HOST = "hadoop.apache.org";

  /** What the rows of all loaded pages begin with. */
  public static final Bytes SITE = Webtable.row(HOST, "/");

  private static final Pattern JAVADOC_JAR =
      Pattern.compile("(?<artifact>.+?)-\\d[^-]*(-.*)?\\.jar");

  /** What the mappers count. */
  enum Counter {
    PAGES,
    PAGE_BYTES,
    OTHER_FILES
  }

  /**
   * What was loaded.
   *
   * @param pages HTML pages written
   * @param pageBytes what they hold, in bytes
   * @param otherFiles files in the jars that are no pages and were passed over
   */
  public record Result(long pages, long pageBytes, long otherFiles) {}

  /**
   * The job, ready to be submitted.
   *
   * @param table must exist, see {@link Webtable#schema}
   * @param jars zip or jar files, and directories of them, on the job's file system
   */
  public static Job job(Configuration conf, String table, List<Path> jars) throws IOException {
    Job job = SteleJob.create(conf, "webtable: load pages", WebtableLoad.class);
    job.setInputFormatClass(ZipInputFormat.class);
    for (Path jar : jars) {
      FileInputFormat.addInputPath(job, jar);
    }
    job.setMapperClass(PageMapper.class);
    job.setNumReduceTasks(0);
    TableOutputFormat.addTable(job, table, Webtable.CONTENTS, Webtable.LANGUAGE);
    return job;
  }

  /** What a finished job has done. */
  public static Result result(Job finished) throws IOException {
    Counters counters = finished.getCounters();
    return new Result(
        counters.findCounter(Counter.PAGES).getValue(),
        counters.findCounter(Counter.PAGE_BYTES).getValue(),
        counters.findCounter(Counter.OTHER_FILES).getValue());
  }

  @Override
  protected String usage() {
    return """
        webtable-load TABLE JAR...

        Loads the HTML pages in javadoc jars, or in directories of them, into the table.
        """;
  }

  @Override
  protected void work(List<String> arguments) throws Exception {
    if (arguments.size() < 2) {
      throw new WrongUsage("which table, and which jars?");
    }
    List<Path> jars = arguments.subList(1, arguments.size()).stream().map(Path::new).toList();
    Result result = result(complete(job(getConf(), arguments.get(0), jars)));
    System.out.printf("%,d pages loaded, %,d bytes%n", result.pages(), result.pageBytes());
  }

  /** Runs the program. */
  public static void main(String[] args) throws Exception {
    main(new WebtableLoad(), args);
  }

  /**
   * Where a file in a jar would be on the web; nothing for what is no page.
   *
   * @param name {@code <jar's name>!/<name in the jar>}
   */
  static Optional<PageAddress> address(String name) {
    int bang = name.indexOf("!/");
    String lower = name.toLowerCase(Locale.ROOT);
    if (bang < 0 || !(lower.endsWith(".html") || lower.endsWith(".htm"))) {
      return Optional.empty();
    }
    String jar = name.substring(0, bang);
    Matcher javadoc = JAVADOC_JAR.matcher(jar);
    String artifact =
        javadoc.matches() ? javadoc.group("artifact") : jar.replaceFirst("\\.(jar|zip)$", "");
    return Optional.of(new PageAddress(HOST, "/docs/" + artifact + "/" + name.substring(bang + 2)));
  }

  /** Makes a page's row. */
  static final class PageMapper extends Mapper<Text, BytesWritable, NullWritable, Mutation> {
    @Override
    protected void map(Text name, BytesWritable file, Context context)
        throws IOException, InterruptedException {
      Optional<PageAddress> address = address(name.toString());
      if (address.isEmpty()) {
        context.getCounter(Counter.OTHER_FILES).increment(1);
        return;
      }
      byte[] page = file.copyBytes();
      String language = HtmlPage.parse(new String(page, StandardCharsets.UTF_8)).language();
      context.write(
          NullWritable.get(),
          Mutation.of(address.get().row())
              .put(Webtable.CONTENTS, Webtable.ONLY, Bytes.wrap(page))
              .put(Webtable.LANGUAGE, Webtable.ONLY, Bytes.of(language)));
      context.getCounter(Counter.PAGES).increment(1);
      context.getCounter(Counter.PAGE_BYTES).increment(page.length);
    }
  }
}
