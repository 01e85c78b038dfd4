package io.stele.cli;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.Principal;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code stele table} against a cluster in this JVM, found through ZooKeeper as any is. */
@Timeout(120)
class TableCommandTest {
  @TempDir Path scratch;

  private CommandCluster commands;
  private MiniStele cluster;

  @BeforeEach
  void start() throws Exception {
    commands = new CommandCluster(scratch);
    cluster = commands.cluster();
  }

  @AfterEach
  void stop() {
    if (commands != null) { // Else it did not start.
      commands.close();
    }
  }

  private Ran run(String... command) {
    return commands.run(command);
  }

  private static List<String> rows(Table table) throws IOException {
    List<String> keys = new ArrayList<>();
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        keys.add(row.key().toString());
      }
    }
    return keys;
  }

  @Test
  void rowsAreDeletedAsFarAsTheCommandSays() throws Exception {
    Stele stele = cluster.client();
    assertThat(run("table", "create", "web", "f", "--split-at", "m").out())
        .isEqualTo("Created table web.\n");
    Table table = stele.table("web");
    for (String row : List.of("a", "b", "ma", "mb", "z")) {
      table.mutate(Mutation.of(row).put("f", "q", row));
    }
    assertThat(run("table", "delete-rows", "web", "--prefix", "m"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.USAGE.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("--yes"));
    assertThat(run("table", "delete-rows", "web", "--yes"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.USAGE.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("truncate"));
    assertThat(rows(table)).containsExactly("a", "b", "ma", "mb", "z");

    assertThat(run("table", "delete-rows", "web", "--from", "b", "--to", "mb", "--yes"))
        .satisfies(ran -> assertThat(ran.err()).isEmpty())
        .satisfies(ran -> assertThat(ran.out()).startsWith("Deleted rows"));
    assertThat(rows(table)).containsExactly("a", "mb", "z");
    assertThat(run("table", "delete-rows", "web", "--prefix", "m", "--yes").exit()).isZero();
    assertThat(rows(table)).containsExactly("a", "z");

    assertThat(run("table", "truncate", "web").exit()).isEqualTo(ExitCode.USAGE.number());
    assertThat(rows(table)).hasSize(2);
    assertThat(run("table", "truncate", "web", "--yes").out()).isEqualTo("Truncated table web.\n");
    assertThat(rows(table)).isEmpty();
    assertThat(run("table", "truncate", "nothere", "--yes").err()).contains("nothere");
    assertThat(run("table", "drop", "nothere", "--yes").exit())
        .isEqualTo(ExitCode.NOT_FOUND.number());
    assertThat(run("table", "drop", "web").err()).contains("--yes");
  }

  @Test
  void aClusterThatWasStoppedIsNotWaitedFor() throws Exception {
    cluster.close();
    for (String command : List.of("status", "scan web", "job count web")) {
      Ran ran = run(command.split(" "));
      assertThat(ran.exit()).as(command).isEqualTo(ExitCode.RETRY_LATER.number());
      assertThat(ran.err())
          .isEqualTo(
              "stele: cluster test is not running, or still starting: see `stele yarn status`, or"
                  + " start it with `stele yarn start`\n");
    }
  }

  @Test
  void whatIsNotThereIsSaidToBeMissing() throws Exception {
    run("table", "create", "web", "f", "g");
    run("put", "web", "a", "f:", "1");
    assertThat(run("get", "web", "b"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.NOT_FOUND.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("table web has no row \"b\""));
    assertThat(run("get", "web", "a", "-c", "g").err())
        .contains("row \"a\" of table web has no cell in g");
    for (String server : List.of("localhost:1", "localhost_1_1")) {
      assertThat(run("events", server))
          .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.NOT_FOUND.number()))
          .satisfies(
              ran ->
                  assertThat(ran.err())
                      .contains("there is no server " + server, "`stele server list` shows"));
    }
  }

  @Test
  void aNewTableThatCannotBeIsWrongUsageBeforeTheClusterIsAsked() {
    cluster.close();
    for (String arguments :
        List.of(
            "web a a",
            "web f:versions=0",
            "w/b f",
            "web f --split-size 1k",
            "web f --group g --group g")) {
      assertThat(run(("table create " + arguments).split(" ")))
          .as(arguments)
          .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.USAGE.number()))
          .satisfies(ran -> assertThat(ran.err()).contains("Try: stele table create --help"));
    }
  }

  @Test
  void theSplitSizeIsShownAsItIsWritten() {
    run("table", "create", "web", "f");
    assertThat(run("table", "describe", "web").out()).contains("tablets split above 1g\n");
    run("table", "alter", "web", "--split-size", "1536k");
    assertThat(run("table", "describe", "web").out()).contains("tablets split above 1536k\n");
    run("table", "alter", "web", "--split-size", "1000000");
    assertThat(run("table", "describe", "web").out()).contains("tablets split above 1000000\n");
  }

  @Test
  void aMisspelledTableIsAnsweredWithTheNearestThereIs() throws Exception {
    run("table", "create", "users", "f");
    run("table", "create", "uszrs", "f");
    run("table", "drop", "uszrs", "--yes");
    for (String command :
        List.of("table drop userz --yes", "table describe userz", "scan userz", "get userz row")) {
      assertThat(run(command.split(" ")))
          .as(command)
          .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.NOT_FOUND.number()))
          .satisfies(
              ran ->
                  assertThat(ran.err()).endsWith("there is no table userz; did you mean users?\n"));
    }
    assertThat(run("table", "describe", "pages").err())
        .isEqualTo("stele: there is no table pages; `stele table list` shows them all\n");
  }

  @Test
  void aFamilyThatIsNotThereIsToBeAddedOnlyByWriters() throws Exception {
    run("table", "create", "web", "f");
    assertThat(run("scan", "web", "-c", "g").err()).endsWith("it has f\n");
    assertThat(run("delete", "web", "row", "g:").err()).endsWith("it has f\n");
    assertThat(run("put", "web", "row", "g:", "x").err())
        .endsWith("it has f. Add the family to the table first\n");
  }

  @Test
  void tabletsAreDescribedByTheirFirstRows() throws Exception {
    run("table", "create", "web", "f", "--split-at", "m");
    assertThat(run("table", "describe", "web").out().lines())
        .satisfiesOnlyOnce(line -> assertThat(line).endsWith("FIRST ROW"))
        .satisfiesOnlyOnce(line -> assertThat(line).endsWith("(the first)"))
        .satisfiesOnlyOnce(line -> assertThat(line).endsWith("  m"));
    assertThat(run("status").out()).contains("MEMTABLES  SIZE");
  }

  @Test
  void addressesOfPagesArePrintedForPrometheus() throws Exception {
    String address = "\"[a-z0-9.-]+:\\d+\"";
    assertThat(run("status", "--targets").out())
        .matches(
            "\\[\n  \\{\"labels\": \\{\"process\": \"master\"}, \"targets\": \\["
                + address
                + "]},\n  \\{\"labels\": \\{\"process\": \"tabletserver\"}, \"targets\": \\["
                + address
                + "(, "
                + address
                + ")*]}\n]\n");
  }

  @Test
  void eventsOfATableAreShownWhateverItsNameLooksLike() throws Exception {
    for (String table : List.of("my_web_table", "web_1_2")) {
      run("table", "create", table, "f");
      assertThat(run("events", table).out()).as(table).contains("loaded");
    }
    assertThat(run("events", "my_other_table").exit()).isEqualTo(ExitCode.NOT_FOUND.number());
    String server = cluster.servers().get(0).toString();
    assertThat(run("events", server).out()).contains("loaded");
    cluster.killServer(cluster.servers().get(0));
    run("table", "create", "new_1_2", "f", "--no-wait");
    MiniStele.await(
        "a table that is being created is no server",
        () ->
            run("events", "new_1_2", "-D", "stele.client.timeout=1s")
                .err()
                .contains("table new_1_2 is still being created"));
  }

  @Test
  void aFamilyUnderTheNameOfADroppedOneIsEmpty() throws Exception {
    run("table", "create", "web", "f", "g", "--split-at", "m");
    Table table = cluster.client().table("web");
    for (String row : List.of("a", "z")) {
      table.mutate(Mutation.of(row).put("f", "q", "old").put("g", "q", "old"));
    }
    assertThat(run("table", "alter", "web", "--drop-family", "f"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.USAGE.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("dropping f of web", "--yes"));
    assertThat(run("table", "alter", "web", "--drop-family", "f", "--yes").err()).isEmpty();
    assertThat(run("table", "alter", "web", "f:versions=2"))
        .satisfies(ran -> assertThat(ran.err()).isEmpty())
        .satisfies(ran -> assertThat(ran.exit()).isZero());
    assertThat(table.readRow(Bytes.of("a"), RowQuery.ALL).orElseThrow().cells())
        .extracting(Cell::family)
        .containsExactly("g");
    table.mutate(Mutation.of("a").put("f", "q", "new"));
    run("table", "compact", "web");
    assertThat(table.readRow(Bytes.of("a"), RowQuery.ALL).orElseThrow().cells())
        .extracting(cell -> cell.family() + "=" + cell.value())
        .containsExactly("f=new", "g=old");
    assertThat(table.readRow(Bytes.of("z"), RowQuery.ALL).orElseThrow().cells()).hasSize(1);
  }

  @Test
  void partsOfARowAreReadAndDeleted() throws Exception {
    run("table", "create", "web", "f:versions=all", "g");
    for (int year : List.of(2024, 2025, 2026)) {
      String time = year + "-01-01T00:00:00Z";
      assertThat(run("put", "--timestamp", time, "--", "web", "-row", "f:q", "of " + year).err())
          .isEmpty();
    }
    assertThat(run("get", "web", "-row").err()).contains("Write `--` before a row");
    assertThat(run("put", "--", "web", "-row", "g:", "\\x2d").err()).isEmpty();
    assertThat(get("f", "--versions", "all")).isEqualTo("of 2026\nof 2025\nof 2024\n");
    assertThat(get("f", "--versions", "all", "--since", "2025-01-01T00:00:00Z"))
        .isEqualTo("of 2026\nof 2025\n");
    assertThat(get("f", "--until", "2025-01-01T00:00:00Z")).isEqualTo("of 2024\n");
    assertThat(get("f", "--versions", "all", "--filter", "value_is('of 2025')"))
        .isEqualTo("of 2025\n");
    assertThat(get("g")).isEqualTo("-\n");
    assertThat(run("scan", "web", "--keys").out()).isEqualTo("-row\n");
    assertThat(run("scan", "web", "--count", "--versions", "all", "-c", "f").out())
        .isEqualTo("1 row, 3 cells\n");
    assertThat(run("scan", "web", "--count", "--filter", "family_regex('g')").out())
        .isEqualTo("1 row, 1 cell\n");
    assertThat(run("delete", "web", "--", "-row", "f:q").err()).isEmpty();
    assertThat(run("scan", "web", "--count", "--versions", "all").out())
        .isEqualTo("1 row, 1 cell\n");
    assertThat(run("delete", "web", "--", "-row").err()).isEmpty();
    assertThat(run("scan", "web", "--count").out()).isEqualTo("0 rows, 0 cells\n");
  }

  @Test
  void countersAreIncrementedAndShown() throws Exception {
    run("table", "create", "web", "f");
    assertThat(run("increment", "web", "row", "f:visits").out()).isEqualTo("1\n");
    assertThat(run("increment", "web", "row", "f:visits", "41").out()).isEqualTo("42\n");
    assertThat(run("increment", "web", "row", "f:visits", "-2").out()).isEqualTo("40\n");
    assertThat(run("increment", "web", "row", "f:visits", "0").out()).isEqualTo("40\n");
    assertThat(run("increment", "web", "row", "f"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.USAGE.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("\"f:\" for the empty qualifier"));
    assertThat(run("increment", "web", "row", "f:visits", "many").err())
        .contains("write a whole number, not \"many\"");
    run("put", "web", "row", "f:text", "not a counter");
    assertThat(run("increment", "web", "row", "f:text"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.REFUSED.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("f:text"));
    assertThat(run("get", "web", "row", "-c", "f:text").out()).endsWith("not a counter\n");
  }

  /** The values that {@code get} shows of the row "-row". */
  private String get(String family, String... options) {
    List<String> words = new ArrayList<>(List.of("get", "-c", family));
    words.addAll(List.of(options));
    words.addAll(List.of("--", "web", "-row"));
    return run(words.toArray(String[]::new))
        .out()
        .lines()
        .map(line -> line.split("\t")[3] + "\n")
        .collect(joining());
  }

  @Test
  void aRowThatIsTooLargeForTheMemoryNamesTheOptionForIt() throws Exception {
    run("table", "create", "web", "f");
    for (String qualifier : List.of("a", "b", "c", "d", "e")) {
      run("put", "web", "row", "f:" + qualifier, "more than ten bytes");
    }
    Table table = cluster.client().table("web").withRowBytesMax(30);
    assertThatThrownBy(() -> rows(table))
        .satisfies(
            failure ->
                assertThat(Failures.lines(failure).get(0)).contains("row \"row\"", "STELE_OPTS"));
  }

  @Test
  void aTableIsCompacted() throws Exception {
    run("table", "create", "web", "f", "--split-at", "m");
    assertThat(run("table", "compact", "web").out()).isEqualTo("Compacted table web.\n");
  }

  @Test
  void theStatusSaysThatBalancingIsOff() throws Exception {
    assertThat(run("status").out()).doesNotContain("balancing is off");
    run("balance", "off");
    assertThat(run("status").out()).contains("balancing is off (stele balance on");
  }

  @Test
  void aNameThatIsEmptyIsNotSaidToHaveASlash() throws Exception {
    assertThat(run("table", "describe", "").err())
        .contains("1 to 128 letters")
        .doesNotContain("'/'");
  }

  @Test
  void aChangeThatIsNotWaitedForAnyLongerNamesTheCommandForThat() throws Exception {
    run("table", "create", "web", "f");
    cluster.killServer(cluster.servers().get(0));
    Ran ran = run("table", "truncate", "web", "--yes", "-D", "stele.client.timeout=2s");
    assertThat(ran.exit()).as(ran.err()).isEqualTo(ExitCode.OUTCOME_UNKNOWN.number());
    assertThat(ran.err()).contains("`stele table change web/clear-");
  }

  @Test
  void aChangeThatNobodyWaitedForIsFollowedByItsId() throws Exception {
    String created = run("table", "create", "web", "f", "--no-wait").out().strip();
    assertThat(created).startsWith("web/create-");
    assertThat(run("table", "change", created, "--wait", "30s").out()).isEqualTo("done\n");
    String dropped = run("table", "drop", "web", "--yes", "--no-wait").out().strip();
    assertThat(run("table", "change", dropped, "--wait", "30s").out()).isEqualTo("done\n");
    assertThat(run("table", "changes").out()).isEqualTo("No table is being changed.\n");
    assertThat(run("table", "change", "web/drop-0").err()).contains("not in progress");
    assertThat(cluster.client().admin().listTables()).isEmpty();
  }

  @Test
  void readersAreRefusedWhereFilesHaveNoAccessControlLists() throws Exception {
    assertThat(run("table", "create", "web", "f", "--reader", "user:alice").err())
        .contains("table web cannot have readers");
    assertThat(cluster.client().admin().listTables()).isEmpty();
    assertThat(run("table", "create", "web", "f", "--reader", "alice").err())
        .contains("write user:NAME or group:NAME");
    assertThat(run("table", "create", "web", "f").exit()).isZero();
    assertThat(run("table", "alter", "web", "--drop-reader", "user:alice").err())
        .contains("user:alice is not a reader of table web");
  }

  @Test
  void aSplitAndAMergeSayWhetherThereWasAnythingToDo() throws Exception {
    run("table", "create", "web", "f");
    assertThat(run("tablet", "split", "web", "m").out()).isEqualTo("Split at row m.\n");
    assertThat(run("tablet", "split", "web", "m").out())
        .isEqualTo("A tablet begins with row m already.\n");
    assertThat(run("tablet", "merge", "web", "m").out()).isEqualTo("Merged at row m.\n");
    Ran again = run("tablet", "merge", "web", "m");
    assertThat(again.exit()).isEqualTo(ExitCode.NOT_FOUND.number());
    assertThat(again.err()).contains("nothing to merge: no tablet of web begins with row m; ");
  }

  @Test
  void changesOfTabletsAndServersNeedNotBeWaitedFor() throws Exception {
    cluster.startServer();
    run("table", "create", "web", "f");
    String other = cluster.servers().get(0).hostAndPort();
    String server = cluster.servers().get(1).hostAndPort();
    assertThat(run("tablet", "split", "web", "m", "--no-wait").out())
        .startsWith("Begun: splitting table web at row \"m\". Now: ");
    assertThat(run("tablet", "split", "web", "m").out())
        .isIn("Split at row m.\n", "A tablet begins with row m already.\n");
    assertThat(run("tablet", "move", "web", "z", server, "--no-wait").out())
        .startsWith("Begun: moving the tablet of table web with row \"z\". Now: ");
    assertThat(run("tablet", "move", "web", "z", server).out())
        .isEqualTo("The tablet of table web with row z is at " + server + ".\n");
    assertThat(run("tablet", "merge", "web", "m", "--no-wait").out())
        .startsWith("Begun: merging table web at row \"m\". Now: ");
    Await.until(
        Duration.ofSeconds(30),
        "one tablet",
        () -> cluster.client().table("web").tablets().size() == 1);
    String merged = cluster.client().table("web").tablets().get(0).id().toString();
    assertThat(run("events", merged).out()).contains(merged, "merged from");
    assertThat(run("events", "root/0000000000000000").out()).contains("loaded");
    String all = run("events", server).out() + run("events", other).out();
    assertThat(all).contains("meta/", "root/", merged);
    assertThat(run("balance", "now", "--no-wait").out())
        .startsWith("Begun: balancing tablets. Now: ");
    assertThat(run("server", "drain", server, "--no-wait").out())
        .startsWith("Begun: draining server " + cluster.servers().get(1) + ". Now: ");
    assertThat(run("server", "drain", server).out())
        .isEqualTo("Server " + server + " has no tablets and takes none until --undo.\n");
    assertThat(run("status").out()).contains("server " + server + " is being drained");
  }

  @Test
  void countersAreShownAsNumbersWhereThatIsAskedFor() throws Exception {
    assertThat(run("table", "create", "hits", "stats", "text").exit()).isZero();
    assertThat(run("increment", "hits", "row", "stats:visits", "41").exit()).isZero();
    assertThat(run("increment", "hits", "row", "stats:errors", "-1").exit()).isZero();
    assertThat(run("put", "hits", "row", "stats:name", "short").exit()).isZero();
    assertThat(run("put", "hits", "row", "text:name", "8 bytes!").exit()).isZero();
    assertThat(run("get", "hits", "row").out()).contains("\\x00\\x00").doesNotContain("\t41\n");
    assertThat(run("get", "hits", "row", "--numbers", "stats").out())
        .contains("\t41\n", "\t-1\n", "\tshort\n", "\t8 bytes!\n");
    assertThat(run("scan", "hits", "--numbers", "stats:visits").out())
        .contains("\t41\n", "\\xff\\xff")
        .doesNotContain("\t-1\n");
  }

  /** The words of a line, as a shell reads it. */
  private static String[] words(String line) {
    return Pattern.compile("'([^']*)'|\\S+")
        .matcher(line.strip())
        .results()
        .map(word -> word.group(1) == null ? word.group() : word.group(1))
        .skip(1) // The name of the program.
        .toArray(String[]::new);
  }

  private List<Bytes> starts(String table) throws IOException {
    return cluster.client().table(table).tablets().stream()
        .map(tablet -> tablet.rows().start())
        .toList();
  }

  @Test
  void aTableIsDescribedAsTheCommandThatCreatesItAgain() throws Exception {
    Stele stele = cluster.client();
    Path splits = scratch.resolve("splits");
    Files.writeString(splits, "m\n\\x00\\xff\n\nit is\n");
    Ran created =
        run(
            ("table create web f:versions=3,age=30d anchor:versions=all,group=big"
                    + " --group big:codec=zstd-high,block=256k,bloom=row-column,cache=low,memory"
                    + " --codec lz4 --split-size 64m --hsync --split-at z"
                    + " --splits-file "
                    + splits)
                .split(" "));
    assertThat(created.err()).isEmpty();
    List<Bytes> starts =
        List.of(
            Bytes.EMPTY,
            Bytes.parse("\\x00\\xff"),
            Bytes.of("it is"),
            Bytes.of("m"),
            Bytes.of("z"));
    assertThat(starts("web")).isEqualTo(starts);

    TableSchema schema = stele.admin().describeTable("web");
    assertThat(CreateText.words(schema.withReaders(List.of(Principal.parse("group:a")))))
        .containsSequence("--reader", "group:a");
    String whole = run("table", "describe", "web", "--as-command").out();
    Path rows = scratch.resolve("rows");
    String other =
        run("table", "describe", "web", "--as-command", "--splits-to", rows.toString()).out();
    assertThat(other).endsWith(" --splits-file " + rows + "\n");
    for (String command : List.of(whole, other)) {
      assertThat(command).startsWith("stele table create web ");
      stele.admin().dropTable("web");
      assertThat(run(words(command)).err()).isEmpty();
      assertThat(stele.admin().describeTable("web")).isEqualTo(schema);
      assertThat(starts("web")).isEqualTo(starts);
    }

    assertThat(run("table", "create", "copy", "--like", "web").err()).isEmpty();
    assertThat(starts("copy")).isEqualTo(starts);
    assertThat(stele.admin().describeTable("copy").families()).isEqualTo(schema.families());
    assertThat(run("table", "create", "other", "--like", "web", "--split-at", "k").exit()).isZero();
    assertThat(starts("other")).containsExactly(Bytes.EMPTY, Bytes.of("k"));
    for (String wrong :
        List.of("x f --like web", "x --like web --hsync", "x", "x f --splits-file n")) {
      assertThat(run(("table create " + wrong).split(" ")).exit())
          .as(wrong)
          .isEqualTo(ExitCode.USAGE.number());
    }
  }

  @Test
  void aTableIsCompactedOrBeingCompacted() throws Exception {
    run("table", "create", "web", "f", "--split-at", "m");
    for (String row : List.of("a", "z")) {
      cluster.client().table("web").mutate(Mutation.of(row).put("f", "q", row));
    }
    assertThat(run("table", "compact", "web").out()).isEqualTo("Compacted table web.\n");
    assertThat(cluster.client().table("web").tablets())
        .allSatisfy(tablet -> assertThat(tablet.sstables()).isEqualTo(1));
    assertThat(run("table", "compact", "web", "--no-wait").out())
        .startsWith("Begun: compacting table web. Now: ");
    assertThat(run("table", "compact", "none").exit()).isEqualTo(ExitCode.NOT_FOUND.number());
  }

  @Test
  void aPolicyThatNoCommandCanGiveIsNotDescribedAsOne() throws Exception {
    GcPolicy either =
        GcPolicy.intersection(GcPolicy.maxVersions(3), GcPolicy.maxAge(Duration.ofDays(30)));
    cluster
        .client()
        .admin()
        .createTable(TableSchema.of("t", List.of(new ColumnFamily("f", either))));
    Ran ran = run("table", "describe", "t", "--as-command");
    assertThat(ran.exit()).isEqualTo(ExitCode.REFUSED.number());
    assertThat(ran.err()).contains("only a program");
  }
}
