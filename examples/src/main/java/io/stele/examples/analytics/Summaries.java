package io.stele.examples.analytics;

import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.outputformat.BulkOutputFormat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * The job that makes the summaries. It reads all clicks as they were when it was submitted, and its
 * commit replaces all earlier summaries at one moment. So it can run at any time and any number of
 * times; a run that fails leaves the summaries of the run before.
 */
final class Summaries {
  private static final int REDUCERS_MAX = 50;

  private Summaries() {}

  static Job job(Configuration conf, String clicks, String summaries) throws IOException {
    Job job = SteleJob.create(conf, "analytics: summarize " + clicks, Summaries.class);
    TableInputFormat.addTable(job, clicks, RowQuery.ALL);
    job.setMapperClass(SessionMapper.class);
    job.setReducerClass(DayReducer.class);
    SteleJob.bulkInto(job, summaries, REDUCERS_MAX, "day", "views", "viewers", "buyers");
    BulkOutputFormat.replaceTable(job, summaries);
    job.setMapOutputValueClass(Row.class);
    return job;
  }

  /** From a session to its site and day. */
  static final class SessionMapper extends Mapper<Bytes, Row, Bytes, Row> {
    @Override
    protected void map(Bytes key, Row session, Context context)
        throws IOException, InterruptedException {
      context.write(Clicks.siteAndDay(key), session);
    }
  }

  /** Sums the sessions of a site and day up. What it keeps in memory grows with the visitors. */
  static final class DayReducer extends Reducer<Bytes, Row, NullWritable, Mutation> {
    @Override
    protected void reduce(Bytes siteAndDay, Iterable<Row> sessions, Context context)
        throws IOException, InterruptedException {
      Day day = new Day(siteAndDay.toUtf8());
      sessions.forEach(day::add);
      context.write(NullWritable.get(), SiteDay.MAPPING.newRow(day.summary()));
    }
  }

  /** What is known of a day while its sessions come, in any order. */
  private static final class Day {
    private final SiteDay sums = new SiteDay();
    private final List<Long> durations = new ArrayList<>();
    private final Map<String, Visitor> visitors = new HashMap<>();

    Day(String siteAndDay) {
      sums.siteAndDay = siteAndDay;
    }

    void add(Row session) {
      String name = session.value(Clicks.SESSION, Clicks.VISITOR).orElse(Bytes.EMPTY).toUtf8();
      Visitor visitor = visitors.computeIfAbsent(name, unseen -> new Visitor());
      long first = Long.MAX_VALUE;
      long last = Long.MIN_VALUE;
      for (Cell click : session.family(Clicks.CLICK)) {
        String page = click.qualifier().toUtf8();
        long time = click.timestampMicros();
        first = Math.min(first, time);
        last = Math.max(last, time);
        sums.clicks++;
        sums.views.merge(page, 1L, Long::sum);
        visitor.firstView.merge(page, time, Math::min);
        if (page.equals(Clicks.PURCHASE)) {
          visitor.lastPurchase = Math.max(visitor.lastPurchase, time);
        }
      }
      durations.add(Math.max(0, last - first) / 1000);
    }

    SiteDay summary() {
      Collections.sort(durations);
      sums.sessions = durations.size();
      sums.medianMillis = durations.get((durations.size() - 1) / 2);
      sums.visitors = visitors.size();
      for (Visitor visitor : visitors.values()) {
        visitor.firstView.forEach(
            (page, time) -> {
              sums.viewers.merge(page, 1L, Long::sum);
              sums.buyers.merge(page, time < visitor.lastPurchase ? 1L : 0L, Long::sum);
            });
      }
      return sums;
    }
  }

  /** When a visitor saw each page first, and bought something last. */
  private static final class Visitor {
    private final Map<String, Long> firstView = new HashMap<>();
    private long lastPurchase = Long.MIN_VALUE;
  }
}
