package io.stele.examples.search;

import io.stele.client.Table;
import io.stele.examples.Example;
import io.stele.examples.ReportTable;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapreduce.Job;

/** Records users' actions, makes profiles of them, and finds pages for users. */
public final class Search extends Example {
  private static final String USERS = "search-users";
  private static final long USERS_MADE = 1000;
  private static final int ACTIONS_SHOWN = 5;

  @Override
  protected String usage() {
    return """
        search run [USERS] [SEED]       generate, profile, and what it finds for some users
        search generate [USERS] [SEED]  makes up what users did, and records it in table
                                        search-users
        search profile                  makes the profiles of all users
        search user USER                prints a user's profile and newest actions
        search find USER WORD           finds pages about a word, without and with the profile
        search click USER PAGE          records a click, unless the user's history is off
        search forget USER              forgets what a user did, and switches the history off

        There are 1000 USERS unless given, u000000 and so on. The same SEED, 1 unless given, makes
        the same actions. Words with several meanings: jaguar, java, python, beetle, mercury, orbit.
        """;
  }

  @Override
  protected Map<String, Command> commands() {
    return Map.of(
        "run", this::runAll,
        "generate", this::generate,
        "profile", none -> stele -> profile(),
        "user", Search::user,
        "find", Search::find,
        "click", Search::click,
        "forget", Search::forget);
  }

  private Work runAll(List<String> arguments) {
    long users = number(arguments, 0, USERS_MADE);
    Work generate = generate(arguments);
    return stele -> {
      generate.on(stele);
      profile();
      for (long i = 0; i < Math.min(3, users); i++) {
        find(stele.table(USERS), Users.row(i), "jaguar");
      }
    };
  }

  private static Work user(List<String> arguments) {
    Bytes user = first(arguments);
    return stele -> user(stele.table(USERS), user);
  }

  private static Work find(List<String> arguments) {
    Bytes user = first(arguments);
    String word = second(arguments);
    return stele -> find(stele.table(USERS), user, word);
  }

  private static Work click(List<String> arguments) {
    Bytes user = first(arguments);
    String page = second(arguments);
    return stele -> click(stele.table(USERS), user, page);
  }

  private static Work forget(List<String> arguments) {
    Bytes user = first(arguments);
    return stele -> {
      stele.table(USERS).mutate(Users.forget(user));
      System.out.println("nothing is known of user " + user + " any more");
    };
  }

  private static Bytes first(List<String> arguments) {
    if (arguments.isEmpty()) {
      throw new WrongUsage("which user?");
    }
    return Bytes.of(arguments.get(0));
  }

  private static String second(List<String> arguments) {
    if (arguments.size() < 2) {
      throw new WrongUsage("user " + arguments.get(0) + ", and what?");
    }
    return arguments.get(1);
  }

  private Work generate(List<String> arguments) {
    long users = number(arguments, 0, USERS_MADE);
    long seed = number(arguments, 1, 1);
    return stele -> {
      createIfMissing(stele, Users.schema(USERS));
      complete(Users.generate(getConf(), USERS, users, seed, Instant.now()));
      System.out.printf("Actions of %,d users recorded in table %s%n", users, USERS);
    };
  }

  private void profile() throws Exception {
    Job job = complete(Profiles.job(getConf(), USERS, Instant.now()));
    System.out.printf(
        "%,d profiles made of %,d actions%n%n",
        job.getCounters().findCounter(TableInputFormat.Counter.ROWS).getValue(),
        job.getCounters().findCounter(TableInputFormat.Counter.CELLS).getValue());
  }

  private static void user(Table users, Bytes user) throws IOException {
    Row row = require(users, user);
    ReportTable profile = new ReportTable("topic", "interest");
    Profiles.of(row).forEach((topic, share) -> profile.row(topic, percent(share)));
    ReportTable actions = new ReportTable("action", "what", "when");
    for (String type : List.of(Users.QUERY, Users.CLICK)) {
      row.family(type).stream()
          .limit(ACTIONS_SHOWN)
          .forEach(action -> actions.row(type, action.value().toUtf8(), action.time()));
    }
    System.out.print(profile + "\n" + actions);
  }

  private static Row require(Table users, Bytes user) throws IOException {
    return users
        .readRow(user)
        .orElseThrow(() -> SteleException.notFound("table " + USERS + " has no user " + user));
  }

  private static String percent(double share) {
    return Math.round(100 * share) + " %";
  }

  private static void find(Table users, Bytes user, String word) throws IOException {
    Row row = require(users, user);
    Map<String, Double> profile = Profiles.of(row);
    List<String> without = Topics.find(word, Map.of());
    List<String> with = Topics.find(word, profile);
    ReportTable table = new ReportTable(word, "for user " + user, "interest");
    for (int i = 0; i < with.size(); i++) {
      String topic = Topics.ofPage(with.get(i)).orElse("");
      table.row(without.get(i), with.get(i), percent(profile.getOrDefault(topic, 0.0)));
    }
    System.out.println(table);
  }

  private static void click(Table users, Bytes user, String page) throws IOException {
    boolean off = users.checkAndMutate(Users.record(user, Users.CLICK, Instant.now(), page));
    System.out.println(off ? "the history of user " + user + " is off" : "recorded");
  }

  /** Runs the program. */
  public static void main(String[] args) throws Exception {
    main(new Search(), args);
  }
}
