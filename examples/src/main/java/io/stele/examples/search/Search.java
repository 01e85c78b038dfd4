package io.stele.examples.search;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.examples.Example;
import io.stele.examples.TextTable;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.Bytes;
import io.stele.model.Row;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapreduce.Job;

/** Records users' actions, makes profiles of them, and finds pages for users. */
public final class Search extends Example {
  private static final String USERS = "users";
  private static final long USERS_MADE = 1000;
  private static final int ACTIONS_SHOWN = 5;

  @Override
  protected String usage() {
    return """
        search run [USERS] [SEED]       generate, profile, and what it finds for some users
        search generate [USERS] [SEED]  makes up what users did, and records it in table users
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
        "profile", (stele, none) -> profile(),
        "user", (stele, arguments) -> user(stele.table(USERS), user(arguments)),
        "find", (stele, arguments) -> find(stele.table(USERS), user(arguments), second(arguments)),
        "click",
            (stele, arguments) -> click(stele.table(USERS), user(arguments), second(arguments)),
        "forget", Search::forget);
  }

  private void runAll(Stele stele, List<String> arguments) throws Exception {
    generate(stele, arguments);
    profile();
    for (long i = 0; i < Math.min(3, number(arguments, 0, USERS_MADE)); i++) {
      find(stele.table(USERS), Users.row(i), "jaguar");
    }
  }

  private static void forget(Stele stele, List<String> arguments) throws IOException {
    stele.table(USERS).mutate(Users.forget(user(arguments)));
    System.out.println("nothing is known of user " + arguments.get(0) + " any more");
  }

  private static Bytes user(List<String> arguments) {
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

  private void generate(Stele stele, List<String> arguments) throws Exception {
    long users = number(arguments, 0, USERS_MADE);
    createIfMissing(stele, Users.schema(USERS));
    complete(Users.generate(getConf(), USERS, users, number(arguments, 1, 1), Instant.now()));
    System.out.printf("Actions of %,d users recorded in table %s%n", users, USERS);
  }

  private void profile() throws Exception {
    Job job = complete(Profiles.job(getConf(), USERS, Instant.now()));
    System.out.printf(
        "%,d profiles made of %,d actions%n%n",
        job.getCounters().findCounter(TableInputFormat.Counter.ROWS).getValue(),
        job.getCounters().findCounter(TableInputFormat.Counter.CELLS).getValue());
  }

  private static void user(Table users, Bytes user) throws IOException {
    Row row = users.readRow(user).orElseThrow(() -> new WrongUsage("no user " + user));
    TextTable profile = new TextTable("topic", "interest");
    Profiles.of(row).forEach((topic, share) -> profile.row(topic, percent(share)));
    TextTable actions = new TextTable("action", "what", "when");
    for (String type : List.of(Users.QUERY, Users.CLICK)) {
      row.family(type).stream()
          .limit(ACTIONS_SHOWN)
          .forEach(action -> actions.row(type, action.value().toUtf8(), action.time()));
    }
    System.out.print(profile + "\n" + actions);
  }

  private static String percent(double share) {
    return Math.round(100 * share) + " %";
  }

  private static void find(Table users, Bytes user, String word) throws IOException {
    Row row = users.readRow(user).orElseThrow(() -> new WrongUsage("no user " + user));
    Map<String, Double> profile = Profiles.of(row);
    List<String> without = Topics.find(word, Map.of());
    List<String> with = Topics.find(word, profile);
    TextTable table = new TextTable(word, "for user " + user, "interest");
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
