package io.stele.examples.search;

import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TimeRange;
import io.stele.model.Timestamps;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;

/**
 * Makes profiles of users' recent actions: what share of a user's interest each topic has. The job
 * reads the table at a pin and writes each profile into its user's row, in one mutation: a reader
 * sees the old profile or the new one. Rows of users without recent actions are not even read.
 */
final class Profiles {
  /** Older actions are ignored. */
  static final Duration LATELY = Duration.ofDays(90);

  /** An action of that age counts half as much as a current one. */
  static final Duration HALF_LIFE = Duration.ofDays(30);

  /** A click tells more than a query; a word of several topics is divided among them. */
  static final double CLICK_WEIGHT = 3;

  private static final String NOW = "examples.search.now";

  private Profiles() {}

  /**
   * The job.
   *
   * @param now what ages are counted from
   */
  static Job job(Configuration conf, String table, Instant now) throws IOException {
    Job job = SteleJob.create(conf, "search: profiles of " + table, Profiles.class);
    job.getConfiguration().setLong(NOW, Timestamps.micros(now));
    RowQuery actions = RowQuery.ALL.family(Users.QUERY).family(Users.CLICK);
    TimeRange lately =
        new TimeRange(Timestamps.micros(now.minus(LATELY)), Timestamps.micros(now) + 1);
    TableInputFormat.addTable(job, table, actions.times(lately));
    job.setMapperClass(ProfileMapper.class);
    job.setNumReduceTasks(0);
    TableOutputFormat.addTable(job, table, Users.PROFILE);
    return job;
  }

  /** The profile in a row: topics and their shares, which add up to about 1. */
  static Map<String, Double> of(Row user) {
    Map<String, Double> profile = new TreeMap<>();
    for (Cell share : user.family(Users.PROFILE)) {
      // The newest version comes first.
      profile.putIfAbsent(share.qualifier().toUtf8(), Double.parseDouble(share.value().toUtf8()));
    }
    return profile;
  }

  /** From a user to the user's profile. */
  static final class ProfileMapper extends Mapper<Bytes, Row, NullWritable, Mutation> {
    @Override
    protected void map(Bytes user, Row actions, Context context)
        throws IOException, InterruptedException {
      long now = context.getConfiguration().getLong(NOW, 0);
      Map<String, Double> interest = new TreeMap<>();
      for (Cell action : actions.cells()) {
        String what = action.value().toUtf8();
        boolean click = action.family().equals(Users.CLICK);
        List<String> topics = click ? Topics.ofPage(what).stream().toList() : Topics.ofWord(what);
        double halfLives =
            (double) (now - action.timestampMicros()) / (HALF_LIFE.toMillis() * 1000);
        double weight = (click ? CLICK_WEIGHT : 1) * Math.pow(0.5, halfLives);
        topics.forEach(topic -> interest.merge(topic, weight / topics.size(), Double::sum));
      }
      double all = interest.values().stream().mapToDouble(Double::doubleValue).sum();
      Mutation.Builder profile = Mutation.builder(user).deleteFamily(Users.PROFILE);
      interest.forEach(
          (topic, weight) ->
              profile.put(
                  Users.PROFILE,
                  Bytes.of(topic),
                  Bytes.of(String.format(Locale.ROOT, "%.4f", weight / all))));
      context.write(NullWritable.get(), profile.build());
    }
  }
}
