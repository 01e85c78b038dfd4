package io.stele.examples.analytics;

import io.stele.examples.NumbersInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;

/**
 * The table of raw clicks: a row for each session, its key the site and the time at which the
 * session began, so that the sessions of a site are together, the earliest first.
 *
 * <pre>
 * row                                          session:visitor  session:referrer    click:/cart
 * com.example.s03 2026-01-05T09:12:44.017Z 5a  v0017            https://search/...  (@ 09:14:02)
 * </pre>
 *
 * <p>The clicks of a session are the versions of its columns {@code click:}, at the times of the
 * clicks. Sites' names contain no blank, so a site's name is never a prefix of another site's rows.
 *
 * <p>The sessions are generated: {@link #generate}.
 */
final class Clicks {
  static final String SESSION = "session";
  static final String CLICK = "click";
  static final String VISITOR = "visitor";

  /** Who comes here has bought something. */
  static final String PURCHASE = "/thanks";

  private static final int SITES = 12;
  private static final int DAYS = 7;
  private static final Instant FIRST_DAY = Instant.parse("2026-01-05T00:00:00Z");
  private static final int REDUCERS_MAX = 50;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  // Who is on one of these may come to any of those after it, most likely the next.
  private static final List<String> PAGES =
      List.of("/", "/search", "/news", "/item/lamp", "/item/desk", "/item/chair", "/cart");
  private static final List<String> REFERRERS =
      List.of("", "https://search.example/?q=furniture", "https://news.example/today");

  private Clicks() {}

  /** The table's schema: all clicks are kept, and clicks of one site are much alike. */
  static TableSchema schema(String table) {
    return TableSchema.of(
            table, List.of(ColumnFamily.of(SESSION), new ColumnFamily(CLICK, GcPolicy.keepAll())))
        .withCodec(Codec.ZSTD);
  }

  /** The beginning of a session's row that all sessions of its site and day have. */
  static Bytes siteAndDay(Bytes row) {
    String text = row.toUtf8();
    return Bytes.of(text.substring(0, text.indexOf('T', text.indexOf(' '))));
  }

  /** The job that generates sessions and writes them in files, which become visible all at once. */
  static Job generate(Configuration conf, String table, long sessions, long seed)
      throws IOException {
    Job job = SteleJob.create(conf, "analytics: generate sessions", Clicks.class);
    NumbersInputFormat.set(job, sessions, seed);
    job.setMapperClass(SessionMapper.class);
    SteleJob.bulkInto(job, table, REDUCERS_MAX, SESSION, CLICK);
    return job;
  }

  /** Makes one session of each number. */
  static final class SessionMapper extends Mapper<LongWritable, NullWritable, Bytes, Mutation> {
    @Override
    protected void map(LongWritable number, NullWritable nothing, Context context)
        throws IOException, InterruptedException {
      SplittableRandom random = NumbersInputFormat.random(context.getConfiguration(), number.get());
      Mutation session = session(number.get(), random);
      context.write(session.row(), session);
    }
  }

  private static Mutation session(long number, SplittableRandom random) {
    int site = (int) (SITES * Math.pow(random.nextDouble(), 2)); // The first have most visitors.
    long visitor = random.nextLong(1000L * (SITES - site));
    long second = (long) (Duration.ofDays(DAYS).toSeconds() * random.nextDouble());
    Instant time = FIRST_DAY.plusSeconds(second).plusMillis(random.nextInt(1000));
    String row = String.format("com.example.s%02d %s %x", site, TIME.format(time), number);
    String referrer = REFERRERS.get(random.nextInt(REFERRERS.size()));
    Mutation.Builder session =
        Mutation.builder(Bytes.of(row))
            .put(SESSION, VISITOR, time, String.format("v%05d", visitor))
            .put(SESSION, "referrer", time, referrer);
    String page = "/";
    while (!page.isEmpty()) {
      session.put(CLICK, page, time, "");
      time = time.plusMillis(2000 + random.nextInt(100_000));
      page = next(page, random);
    }
    return session.build();
  }

  /** The page that the visitor goes to, or an empty word if the session is over. */
  private static String next(String page, SplittableRandom random) {
    if (page.equals(PURCHASE) || random.nextInt(4) == 0) {
      return "";
    }
    if (page.equals("/cart")) {
      return random.nextInt(3) == 0 ? "/" : PURCHASE;
    }
    int at = PAGES.indexOf(page);
    return PAGES.get(at + (int) ((PAGES.size() - at) * Math.pow(random.nextDouble(), 2)));
  }
}
