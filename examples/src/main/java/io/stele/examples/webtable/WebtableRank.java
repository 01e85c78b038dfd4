package io.stele.examples.webtable;

import io.stele.examples.Program;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * The PageRank of the pages of a Webtable, in a table of its own:
 *
 * <pre>
 * row                link:&lt;row referred to&gt;   rank:
 * com.example/a.html (empty)                   1.3174
 * </pre>
 *
 * <p>The first job inverts the anchors that {@link WebtableLink} has written, and gives each page
 * the rank 1. Each round is a job that reads this table as it was when the job was submitted, and
 * whose commit replaces the whole table at one moment: a round that fails leaves the ranks of the
 * round before, and no reader sees ranks of two rounds. In each round a page divides its rank among
 * the pages that it refers to, and gets {@code 0.15 + 0.85 * } the sum of the shares given to it.
 */
public final class WebtableRank extends Program {
  /** The pages that a page refers to. */
  public static final String LINK = "link";

  /** The page's rank, as text. */
  public static final String RANK = "rank";

  /** In mutations on their way to a reducer: a share of rank given to the page. */
  private static final String GIVEN = "given";

  private static final double DAMPING = 0.85;
  private static final int REDUCERS_MAX = 100;

  /** The table's schema. */
  public static TableSchema schema(String ranks) {
    return TableSchema.of(ranks, LINK, RANK);
  }

  /** The job that takes the links from a Webtable. */
  public static Job links(Configuration conf, String webtable, String ranks) throws IOException {
    Job job = SteleJob.create(conf, "rank: links of " + webtable, WebtableRank.class);
    TableInputFormat.addTable(job, webtable, RowQuery.ALL.family(Webtable.ANCHOR).versions(1));
    job.setMapperClass(LinkMapper.class);
    return replacing(job, ranks);
  }

  /** The job of one round. */
  public static Job round(Configuration conf, String ranks) throws IOException {
    Job job = SteleJob.create(conf, "rank: a round over " + ranks, WebtableRank.class);
    TableInputFormat.addTable(job, ranks, RowQuery.ALL.versions(1));
    job.setMapperClass(RankMapper.class);
    job.setReducerClass(RankReducer.class);
    return replacing(job, ranks);
  }

  private static Job replacing(Job job, String ranks) throws IOException {
    SteleJob.bulkInto(job, ranks, REDUCERS_MAX, LINK, RANK);
    BulkOutputFormat.replaceTable(job, ranks);
    return job;
  }

  @Override
  protected String usage() {
    return """
        webtable-rank TABLE RANKS ROUNDS

        Ranks the pages of the table by their links, in so many rounds, into the table RANKS.
        """;
  }

  @Override
  protected void work(List<String> arguments) throws Exception {
    if (arguments.size() != 3) {
      throw new WrongUsage("say the two tables, and how many rounds");
    }
    long rounds = number(arguments.get(2));
    complete(links(getConf(), arguments.get(0), arguments.get(1)));
    for (long i = 0; i < rounds; i++) {
      complete(round(getConf(), arguments.get(1)));
    }
  }

  /** Runs the program. */
  public static void main(String[] args) throws Exception {
    main(new WebtableRank(), args);
  }

  private static Mutation rank(Bytes page, double rank) {
    return Mutation.of(page).put(RANK, Bytes.EMPTY, Bytes.of(Double.toString(rank)));
  }

  /** From a page to those that refer to it. */
  static final class LinkMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes page, Row row, Context context)
        throws IOException, InterruptedException {
      context.write(page, rank(page, 1));
      for (Cell anchor : row.cells()) {
        Bytes referring = anchor.qualifier();
        Mutation link = Mutation.of(referring).put(LINK, page, Bytes.EMPTY);
        context.write(referring, link);
        context.write(referring, rank(referring, 1));
      }
    }
  }

  /** From a page to itself, with its links, and to those that it refers to. */
  static final class RankMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes page, Row row, Context context)
        throws IOException, InterruptedException {
      double rank = Double.parseDouble(row.value(RANK, "").orElse(Bytes.of("0")).toUtf8());
      List<Cell> links = row.family(LINK);
      context.write(page, Mutation.of(page).put(GIVEN, Bytes.EMPTY, Bytes.of("0")));
      for (Cell link : links) {
        Bytes target = link.qualifier();
        context.write(page, Mutation.of(page).put(LINK, target, Bytes.EMPTY));
        String given = Double.toString(rank / links.size());
        context.write(target, Mutation.of(target).put(GIVEN, Bytes.EMPTY, Bytes.of(given)));
      }
    }
  }

  /** Adds up what a page is given, and writes its links again. */
  static final class RankReducer extends Reducer<Bytes, Mutation, NullWritable, Mutation> {
    @Override
    protected void reduce(Bytes page, Iterable<Mutation> mutations, Context context)
        throws IOException, InterruptedException {
      double given = 0;
      for (Mutation mutation : mutations) {
        for (Edit edit : mutation.edits()) {
          if (edit instanceof Edit.Put put && put.family().equals(GIVEN)) {
            given += Double.parseDouble(put.value().toUtf8());
          } else {
            context.write(NullWritable.get(), mutation);
          }
        }
      }
      context.write(NullWritable.get(), rank(page, 1 - DAMPING + DAMPING * given));
    }
  }
}
