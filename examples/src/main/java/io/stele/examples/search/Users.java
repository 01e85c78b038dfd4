package io.stele.examples.search;

import io.stele.examples.NumbersInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.Filter;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;

/**
 * The table of users: a row for each, a family for each type of action, whose only column has a
 * version for each action, at the time of the action.
 *
 * <pre>
 * row      query:                          click:                      profile:cars   setting:
 * u000042  jaguar (@ Monday 9:30)          cars.example/jaguar (9:31)  0.71
 *          engine (@ Sunday 20:12) ...     ...
 * </pre>
 *
 * <p>The policies of the families are quotas: however much a user does, only the newest {@link
 * #ACTIONS_MAX} actions of each type are kept, for {@link #KEPT}. A profile that no job renews
 * expires after {@link #PROFILE_KEPT}.
 */
final class Users {
  static final String QUERY = "query";
  static final String CLICK = "click";
  static final String PROFILE = "profile";

  /** The user's choices; as in the paper, others keep theirs in columns of their own. */
  static final String SETTING = "setting";

  /** Set for a user whose actions must not be recorded. */
  static final Column NO_HISTORY = Column.of(SETTING, "no-history");

  static final int ACTIONS_MAX = 100;
  static final Duration KEPT = Duration.ofDays(180);
  static final Duration PROFILE_KEPT = Duration.ofDays(30);

  private static final String UNTIL = "examples.search.until";
  private static final int ACTIONS_MADE_MAX = 500;
  private static final Duration ACTIVE = Duration.ofDays(200);

  private Users() {}

  static TableSchema schema(String table) {
    GcPolicy quota = GcPolicy.union(GcPolicy.maxVersions(ACTIONS_MAX), GcPolicy.maxAge(KEPT));
    return TableSchema.of(
        table,
        List.of(
            new ColumnFamily(QUERY, quota),
            new ColumnFamily(CLICK, quota),
            new ColumnFamily(PROFILE, GcPolicy.maxAge(PROFILE_KEPT)),
            ColumnFamily.of(SETTING)));
  }

  static Bytes row(long number) {
    return Bytes.of(String.format("u%06d", number));
  }

  /** Records an action, unless the user does not want that. */
  static CheckAndMutate record(Bytes user, String type, Instant when, String what) {
    return CheckAndMutate.ifNone(
        new Filter.ColumnIs(NO_HISTORY), Mutation.of(user).put(type, "", when, what));
  }

  /** Deletes all of a user's actions at once, and records none from now on. */
  static Mutation forget(Bytes user) {
    return Mutation.of(user)
        .deleteFamily(QUERY)
        .deleteFamily(CLICK)
        .deleteFamily(PROFILE)
        .put(NO_HISTORY.family(), NO_HISTORY.qualifier(), Bytes.EMPTY);
  }

  /**
   * The job that generates users' actions, and records them row by row, as they would come from
   * users.
   *
   * @param until the time of the last actions
   */
  static Job generate(Configuration conf, String table, long users, long seed, Instant until)
      throws IOException {
    Job job = SteleJob.create(conf, "search: generate actions", Users.class);
    NumbersInputFormat.set(job, users, seed);
    job.getConfiguration().set(UNTIL, until.toString());
    job.setMapperClass(UserMapper.class);
    job.setNumReduceTasks(0);
    TableOutputFormat.addTable(job, table, QUERY, CLICK);
    return job;
  }

  /** Generates the actions of one user for each number, most of them about one topic. */
  static final class UserMapper extends Mapper<LongWritable, NullWritable, NullWritable, Mutation> {
    @Override
    protected void map(LongWritable number, NullWritable nothing, Context context)
        throws IOException, InterruptedException {
      Instant until = Instant.parse(context.getConfiguration().get(UNTIL));
      SplittableRandom random = NumbersInputFormat.random(context.getConfiguration(), number.get());
      List<String> topics = Topics.TOPICS;
      String favourite = topics.get(random.nextInt(topics.size()));
      Mutation.Builder actions = Mutation.builder(row(number.get()));
      for (int i = 1 + random.nextInt(ACTIONS_MADE_MAX); i > 0; i--) {
        boolean usual = random.nextInt(3) > 0;
        String topic = usual ? favourite : topics.get(random.nextInt(topics.size()));
        List<String> words = Topics.words(topic);
        String word = words.get(random.nextInt(words.size()));
        Instant when = until.minus(random.nextLong(ACTIVE.toSeconds()), ChronoUnit.SECONDS);
        actions.put(QUERY, "", when, word);
        if (random.nextBoolean()) {
          actions.put(CLICK, "", when.plusMillis(900), Topics.page(topic, word));
        }
      }
      context.write(NullWritable.get(), actions.build());
    }
  }
}
