package io.stele.examples.webtable;

import io.stele.examples.Program;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Inverts the links of the Webtable: for each page that another refers to, {@code anchor:<referring
 * row>} gets the link's text. Pages outside the table get rows with anchors only.
 *
 * <p>Reads and writes the same table: what it writes is in another family than what it reads.
 */
public final class WebtableLink extends Program {
  /** A row with more anchors gets them in several mutations. */
  private static final int EDITS_MAX = 10_000;

  /** What mappers and reducers count. */
  enum Counter {
    PAGES,
    LINKS,
    ANCHORS,
    REFERRED_PAGES
  }

  /**
   * What was found and written.
   *
   * @param pages pages read
   * @param links links on them to other pages, each page counted once for a page
   * @param anchors cells written
   * @param referredPages rows they were written to
   */
  public record Result(long pages, long links, long anchors, long referredPages) {}

  /** The job, ready to be submitted. */
  public static Job job(Configuration conf, String table) throws IOException {
    Job job = SteleJob.create(conf, "webtable: invert links", WebtableLink.class);
    TableInputFormat.addTable(job, table, RowQuery.ALL.family(Webtable.CONTENTS).versions(1));
    job.setMapperClass(LinkMapper.class);
    job.setCombinerClass(AnchorCombiner.class);
    job.setReducerClass(AnchorReducer.class);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Anchors.class);
    TableOutputFormat.addTable(job, table, Webtable.ANCHOR);
    return job;
  }

  /** What a finished job has done. */
  public static Result result(Job finished) throws IOException {
    Counters counters = finished.getCounters();
    return new Result(
        counters.findCounter(Counter.PAGES).getValue(),
        counters.findCounter(Counter.LINKS).getValue(),
        counters.findCounter(Counter.ANCHORS).getValue(),
        counters.findCounter(Counter.REFERRED_PAGES).getValue());
  }

  @Override
  protected String usage() {
    return """
        webtable-link TABLE

        Writes into the table who refers to whom.
        """;
  }

  @Override
  protected void work(List<String> arguments) throws Exception {
    if (arguments.size() != 1) {
      throw new WrongUsage("which table?");
    }
    Result result = result(complete(job(getConf(), arguments.get(0))));
    System.out.printf(
        "%,d links on %,d pages: %,d anchors written to %,d rows%n",
        result.links(), result.pages(), result.anchors(), result.referredPages());
  }

  /** Runs the program. */
  public static void main(String[] args) throws Exception {
    main(new WebtableLink(), args);
  }

  /** From a page to the pages it refers to. */
  static final class LinkMapper extends Mapper<Bytes, Row, Text, Anchors> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      Optional<Bytes> page = row.value(Webtable.CONTENTS, "");
      Optional<PageAddress> address = PageAddress.ofRow(key);
      if (page.isEmpty() || address.isEmpty()) {
        return;
      }
      context.getCounter(Counter.PAGES).increment(1);
      Set<Bytes> seen = new HashSet<>(Set.of(key)); // A page's links to itself do not count.
      for (HtmlPage.Link link : HtmlPage.parse(page.get().toUtf8()).links()) {
        Optional<Bytes> target = address.get().resolve(link.href()).map(PageAddress::row);
        if (target.isPresent() && seen.add(target.get())) {
          context.write(new Text(target.get().toUtf8()), Anchors.of(key.toUtf8(), link.text()));
          context.getCounter(Counter.LINKS).increment(1);
        }
      }
    }
  }

  /** Puts the anchors that one mapper found for a page together. */
  static final class AnchorCombiner extends Reducer<Text, Anchors, Text, Anchors> {
    @Override
    protected void reduce(Text page, Iterable<Anchors> anchors, Context context)
        throws IOException, InterruptedException {
      context.write(page, new Anchors().addAll(anchors));
    }
  }

  /**
   * Writes the anchors of a page, in the order of the pages that refer to it: another attempt must
   * write the same mutations, and the shuffle gives them in any order.
   */
  static final class AnchorReducer extends Reducer<Text, Anchors, NullWritable, Mutation> {
    @Override
    protected void reduce(Text page, Iterable<Anchors> anchors, Context context)
        throws IOException, InterruptedException {
      Bytes row = Bytes.of(page.toString());
      Mutation.Builder mutation = Mutation.builder(row);
      int edits = 0;
      for (Map.Entry<String, String> anchor :
          new Anchors().addAll(anchors).textByReferrer().entrySet()) {
        if (edits == EDITS_MAX) {
          context.write(NullWritable.get(), mutation.build());
          mutation = Mutation.builder(row);
          edits = 0;
        }
        mutation.put(Webtable.ANCHOR, Bytes.of(anchor.getKey()), Bytes.of(anchor.getValue()));
        edits++;
        context.getCounter(Counter.ANCHORS).increment(1);
      }
      context.write(NullWritable.get(), mutation.build());
      context.getCounter(Counter.REFERRED_PAGES).increment(1);
    }
  }
}
