package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.BatchWriter;
import io.stele.client.ClusterJob;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.mapreduce.HdfsCluster;
import io.stele.mapreduce.documents.Document;
import io.stele.mapreduce.documents.MapReduceBlock;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.permission.AclEntry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code stele job} by MapReduce's local runner, over HDFS and ZooKeeper in this JVM; and the
 * commands of {@code docs/mapreduce.md}, word for word.
 */
@Timeout(300)
class JobCommandIT {
  private static final int ROWS = 200;
  private static final int VALUE_BYTES = 400;
  private static final String FILE = "hdfs://\\S+/tables/t\\d+/[0-9a-f]{16}/\\d+-\\d+\\.sst";

  @TempDir private static Path scratch;
  private static Path directory;
  private static HdfsCluster hdfs;
  private static Stele client;

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    client = hdfs.stele().client();
    client.admin().setBalanced(false); // A tablet that moves is read anew.
    directory = Files.createDirectory(scratch.resolve("conf"));
    try (OutputStream site = Files.newOutputStream(directory.resolve("core-site.xml"))) {
      hdfs.conf().writeXml(site);
    }
    fill("web");
  }

  @AfterAll
  static void stop() throws Exception {
    hdfs.close();
  }

  /** A table of two tablets, each with one file, of rows that compress badly. */
  private static void fill(String name) throws IOException {
    client.admin().createTable(TableSchema.of(name, "f"), List.of(Bytes.of("org.")));
    Random random = new Random(1);
    try (BatchWriter writer = client.table(name).batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        String row = String.format("%s/%03d", i % 4 == 0 ? "org.x" : "com.x", i);
        writer.add(Mutation.of(row).put("f", Bytes.of("q"), 1000 + i, Bytes.of(value)));
      }
    }
    client.admin().compactTable(name);
  }

  private static void create(String name) throws IOException {
    client.admin().createTable(TableSchema.of(name, "f"), List.of());
    client.table(name).mutate(Mutation.of("there").put("f", "q", "before"));
  }

  /** What {@link #create} has made, and nothing else. */
  private static void assertUntouched(String name) throws IOException {
    try (Rows rows = client.table(name).readRows(RowQuery.ALL)) {
      assertThat(rows).extracting(Row::key).containsExactly(Bytes.of("there"));
    }
  }

  private static Ran run(String... command) {
    List<String> words = new ArrayList<>(List.of(command));
    words.addAll(List.of("--conf", directory.toString()));
    return Ran.of(words);
  }

  private static String succeeded(String... command) {
    Ran ran = run(command);
    assertThat(ran.exit()).as("%s%s", ran.out(), ran.err()).isZero();
    return ran.out();
  }

  private static void refused(ExitCode exit, String why, String... command) {
    Ran ran = run(command);
    assertThat(ran.exit()).as("%s: %s", List.of(command), ran.err()).isEqualTo(exit.number());
    assertThat(ran.err()).contains(why).doesNotContain("\tat ");
    assertThat(ran.out()).isEmpty();
  }

  private static String file(String name, String text) throws IOException {
    return Files.writeString(scratch.resolve(name), text).toUri().toString();
  }

  @Test
  void cellsAreReadByTheirTimestamps() {
    String second = "1970-01-01T00:00:00";
    assertThat(
            succeeded(
                "job",
                "count",
                "web",
                "--since",
                second + ".00101Z",
                "--until",
                second + ".00105Z"))
        .contains("40 rows");
    assertThat(succeeded("job", "count", "web", "--since", second + ".0011Z")).contains("100 rows");
    refused(
        ExitCode.USAGE,
        "--until",
        "job",
        "count",
        "web",
        "--since",
        second + ".2Z",
        "--until",
        second + ".1Z");
    refused(ExitCode.USAGE, "microseconds since 1970", "job", "count", "web", "--since", "today");
    refused(ExitCode.USAGE, "not in milliseconds", "job", "count", "web", "--since", "1010");
  }

  @Test
  void statisticsAreShownByFamilyAndByPrefix() {
    List<String> lines =
        succeeded("job", "stats", "web", "--prefix-bytes", "4")
            .lines()
            .map(line -> line.replaceAll(" +", " "))
            .toList();
    assertThat(lines.get(0)).startsWith("200 rows, 200 cells, ");
    assertThat(lines)
        .anyMatch(line -> line.startsWith("f 200 200 200 1 "))
        .anyMatch(line -> line.startsWith("f com. 150 150 "))
        .anyMatch(line -> line.startsWith("f org. 50 50 "));
    assertThat(succeeded("job", "stats", "web", "--prefix", "com.").lines())
        .anyMatch(line -> line.startsWith("150 rows, 150 cells, "));
    refused(ExitCode.USAGE, "number from 1", "job", "stats", "web", "--prefix-bytes", "0");
    refused(ExitCode.USAGE, "--prefix-bytes", "job", "stats", "web", "--prefix-bytes", "many");
  }

  /** Files are damaged with their tablets at rest: nothing reads or replaces them meanwhile. */
  @Test
  void verificationTellsSoundTablesFromDamagedOnes() throws Exception {
    fill("damaged");
    List<String> sound = succeeded("job", "verify", "damaged").lines().toList();
    assertThat(sound).hasSize(6);
    assertThat(sound.get(0).strip()).startsWith("2 files are sound, ");
    assertThat(sound.get(2).strip()).startsWith("200 rows are the same ");

    org.apache.hadoop.fs.Path damaged = damageAFile("damaged");
    Ran ran = run("job", "verify", "damaged", "-D", "stele.client.timeout=2s");
    assertThat(ran.exit()).as(ran.err()).isEqualTo(ExitCode.CORRUPTION.number());
    List<String> lines = ran.out().lines().toList();
    assertThat(lines).anyMatch(line -> line.startsWith("damaged: " + damaged + " at offset "));

    String[] documented = MapReduceBlock.VERIFICATION.lines();
    assertThat(shapes(lines)).isEqualTo(shapes(Arrays.asList(documented)));
    assertThat(shapes(sound)).isEqualTo(shapes(Arrays.asList(documented).subList(0, 6)));
    refused(ExitCode.NOT_FOUND, "nosuch", "job", "verify", "nosuch");
  }

  @Test
  void tablesThatDifferHaveAnExitCodeOfTheirOwn() throws Exception {
    create("one");
    create("two");
    String[] compare = {"job", "compare", "one", "two", "-c", "f:r"};
    assertThat(succeeded(compare)).contains(" 0 rows are different");
    client.table("two").mutate(Mutation.of("there").put("f", "r", "more"));
    Ran ran = run(compare);
    assertThat(ran.exit()).as(ran.err()).isEqualTo(ExitCode.PROBLEMS.number());
  }

  @Test
  void problemsThatACheckFindsHaveAnExitCodeOfTheirOwn() throws Exception {
    fill("lacking");
    String[] check = {"check", "--wait", "1ms"};
    hdfs.fs().delete(damageAFile("lacking"), false);
    Ran found = run(check);
    assertThat(found.exit())
        .as("%s%s", found.out(), found.err())
        .isEqualTo(ExitCode.PROBLEMS.number());
    Ran left = run("repair", "--wait", "1ms");
    assertThat(left.exit())
        .as("%s%s", left.out(), left.err())
        .isEqualTo(ExitCode.PROBLEMS.number());
    client.admin().dropTable("lacking");
  }

  /** The lines of a verification without what differs from one to the next. */
  private static List<String> shapes(List<String> lines) {
    return lines.stream()
        .map(
            line ->
                line.replaceFirst(FILE, "FILE")
                    .replaceFirst("rows \\[.*?\\)", "rows ROWS")
                    .replaceFirst("^(?=.{15} )[ \\d,]+ (?=files|rows)", "COUNT ")
                    .replaceAll("\\d[\\d,]*", "NUMBER")
                    .replaceFirst("(offset NUMBER|ROWS): .+", "$1: ..."))
        .distinct()
        .toList();
  }

  private static org.apache.hadoop.fs.Path damageAFile(String name) throws IOException {
    Table table = client.table(name);
    org.apache.hadoop.fs.Path file =
        hdfs.stele().records().readAll(table.id()).stream()
            .flatMap(record -> record.files().stream())
            .map(each -> new org.apache.hadoop.fs.Path("/stele", each.path()))
            .findFirst()
            .orElseThrow();
    byte[] bytes;
    try (var in = hdfs.fs().open(file)) {
      bytes = in.readAllBytes();
    }
    bytes[bytes.length / 2] ^= 1;
    try (var out = hdfs.fs().create(file, true)) {
      out.write(bytes);
    }
    return hdfs.fs().makeQualified(file);
  }

  @Test
  void aDryRunOfACopyWritesNothing() throws Exception {
    create("copy");
    assertThat(succeeded("job", "copy", "web", "copy", "--prefix", "com.", "--dry-run"))
        .isEqualTo("Dry run: 150 rows, 150 cells would be written to table copy.\n");
    assertThat(succeeded("job", "copy", "web", "copy", "--replace", "--dry-run").lines())
        .startsWith("Dry run: 200 rows, 200 cells would be written to table copy.")
        .anyMatch(
            line -> line.startsWith("All earlier rows would be replaced: they are in 1 tablet"));
    assertUntouched("copy");
  }

  @Test
  void aDryRunOfAnImportWritesNothing() throws Exception {
    create("lines");
    String text = file("lines.txt", "a,1\nb,2\nbroken\n");
    String[] command = {"job", "import-text", "lines", text, "--fields", "ROW,f:n"};
    List<String> dry = new ArrayList<>(List.of(command));
    dry.addAll(List.of("--separator", ",", "--skip-bad-lines", "--dry-run"));
    assertThat(succeeded(dry.toArray(String[]::new)))
        .isEqualTo(
            "Dry run: 2 rows, 2 cells would be written to table lines.\n1 line was left out.\n");
    assertUntouched("lines");
  }

  @Test
  void aDryRunOfAnExportAndOfItsImportWritesNothing() throws Exception {
    create("imported");
    String files = "/exports/web";
    assertThat(succeeded("job", "export-avro", "web", files, "--prefix", "org.", "--dry-run"))
        .startsWith("Dry run: 50 rows, 50 cells, ")
        .endsWith(" would be written to Avro files in /exports/web.\n");
    assertThat(hdfs.fs().exists(new org.apache.hadoop.fs.Path(files))).isFalse();

    assertThat(succeeded("job", "export-avro", "web", files, "--prefix", "org."))
        .startsWith("50 rows, 50 cells, ");
    assertThat(succeeded("job", "import-avro", files, "imported", "--dry-run"))
        .isEqualTo("Dry run: 50 rows, 50 cells would be written to table imported.\n");
    assertUntouched("imported");
    for (String dry : List.of("--dry-run", "--versions=1")) {
      refused(ExitCode.REFUSED, "/exports/web exists", "job", "export-avro", "web", files, dry);
    }
  }

  @Test
  void theRecordsOfTheDocumentsSchemaAreImportedAndExported() throws Exception {
    String schema = scratch.resolve("person.avsc").toString();
    Files.writeString(Path.of(schema), MapReduceBlock.RECORD_SCHEMA.text());
    client.admin().createTable(TableSchema.of("people", "p", "likes"), List.of());
    client.admin().createTable(TableSchema.of("people2", "p", "likes"), List.of());
    Mutation ada = Mutation.of("ada").put("p", "name", "Ada").put("likes", "tea", new byte[8]);
    client.table("people").mutate(ada);
    succeeded("job", "export-avro", "people", "/exports/people", "--schema", schema);
    succeeded("job", "import-avro", "/exports/people", "people2", "--schema", schema);
    Row row = client.table("people2").readRow("ada").orElseThrow();
    assertThat(row.cells()).hasSize(3); // With the visits, which have a default.
    assertThat(row.value("p", "name")).contains(Bytes.of("Ada"));
    refused(
        ExitCode.REFUSED,
        "says which columns",
        "job",
        "export-avro",
        "people",
        "/exports/more",
        "-c",
        "p",
        "--schema",
        schema);
  }

  @Test
  void whatAJobCannotDoIsRefusedBeforeItRuns() throws Exception {
    Set<String> before =
        client.admin().listJobs().stream().map(ClusterJob::name).collect(Collectors.toSet());
    create("target");
    String text = file("text.txt", "a\tb\n");
    refused(ExitCode.NOT_FOUND, "nosuch", "job", "count", "nosuch");
    refused(ExitCode.NOT_FOUND, "family \"g\"", "job", "count", "web", "-c", "g");
    refused(ExitCode.NOT_FOUND, "nosuch", "job", "copy", "web", "nosuch", "--dry-run");
    refused(ExitCode.REFUSED, "to itself", "job", "copy", "web", "web");
    refused(ExitCode.NOT_FOUND, "nosuch", "job", "compare", "web", "nosuch");
    refused(ExitCode.NOT_FOUND, "nosuch", "job", "import-avro", "/exports", "nosuch");
    refused(ExitCode.NOT_FOUND, "/nosuch", "job", "import-avro", "/nosuch", "target");
    refused(
        ExitCode.NOT_FOUND,
        "/nosuch",
        "job",
        "import-avro",
        "/nosuch",
        "target",
        "--replace",
        "--yes");
    refused(ExitCode.USAGE, "--dry-run", "job", "copy", "web", "target", "--replace");
    refused(
        ExitCode.NOT_FOUND,
        "/no*such",
        "job",
        "import-text",
        "target",
        "/no*such",
        "--fields",
        "ROW,f:a");
    String local = directory.resolve("core-site.xml").toString();
    refused(
        ExitCode.NOT_FOUND,
        local + " is on this machine",
        "job",
        "import-text",
        "target",
        local,
        "--fields",
        "ROW,f:a");
    refused(ExitCode.USAGE, "must be ROW", "job", "import-text", "target", text, "--fields", "f:a");
    refused(
        ExitCode.NOT_FOUND, "nosuch", "job", "import-text", "nosuch", text, "--fields", "ROW,f:a");
    refused(ExitCode.USAGE, "--fields", "job", "import-text", "target", text);
    refused(ExitCode.USAGE, "TO", "job", "copy", "web");
    assertUntouched("target");
    assertThat(client.admin().listJobs())
        .as("jobs that were refused")
        .allMatch(job -> before.contains(job.name()));
  }

  /** Of a table that is written, it says which families it lacks. */
  @Test
  void aTableWithoutTheFamiliesIsRefused() throws Exception {
    client.admin().createTable(TableSchema.of("narrow", "g"), List.of());
    refused(ExitCode.NOT_FOUND, "has no family f", "job", "copy", "web", "narrow");
  }

  @Test
  void theCommandOfTheDocumentMakesAReader() throws Exception {
    create("webtable");
    String[] words = MapReduceBlock.READER_COMMAND.text().split(" ");
    assertThat(words[0]).isEqualTo("stele");
    succeeded(Arrays.copyOfRange(words, 1, words.length));
    assertThat(succeeded("table", "describe", "webtable")).contains("user:analyst");
    org.apache.hadoop.fs.Path files =
        new org.apache.hadoop.fs.Path("/stele/tables/" + client.table("webtable").id().value());
    assertThat(hdfs.fs().getAclStatus(files).getEntries())
        .extracting(AclEntry::getName)
        .contains("analyst");
  }

  @Test
  void theCommandOfTheDocumentRunsByHadoopsJar() throws Exception {
    String[] words = MapReduceBlock.HADOOP_JAR.text().split(" ");
    assertThat(words).startsWith("hadoop", "jar").endsWith("--conf", "/etc/stele");
    String jar = words[2].replaceFirst("^/opt/stele/lib/(.*)-\\*\\.jar$", "$1");
    String[] command = Arrays.copyOfRange(words, 3, words.length);
    command[command.length - 1] = directory.toString();
    Launcher.Ended ended = Launcher.hadoopJar(jar, command);
    assertThat(ended.output()).contains("200 rows, 200 cells, ");
    assertThat(ended.code()).isZero();
  }

  @Test
  void theDocumentNamesEveryJob() throws Exception {
    List<String> named =
        Pattern.compile("^\\| `stele job ([a-z-]+)[ `]", Pattern.MULTILINE)
            .matcher(Document.read("docs/mapreduce.md").text())
            .results()
            .map((MatchResult row) -> row.group(1))
            .toList();
    assertThat(named)
        .containsExactlyInAnyOrderElementsOf(
            Main.commandLine().getSubcommands().get("job").getSubcommands().keySet());
  }
}
