package io.stele.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The sources and documents of all modules keep to the sizes and names that we agreed on. */
class TidyTest {
  private static final int METHOD_LINES_MAX = 70;
  private static final int FILE_LINES_MAX = 800;
  private static final int PARAMETERS_MAX = 6;
  private static final int DOCUMENT_LINE_MAX = 160;

  /** Records with more components, and why. */
  private static final Set<String> WIDE_RECORDS =
      Set.of(
          // What is stored, field by field: its codec makes it, in one place.
          "SSTableProperties",
          "TabletRecord",
          "TabletSpec",
          "ManifestEdit",
          "TableName",
          "SchemaChange",
          "StoredTable",
          "FileRef",
          "StoredJob",
          // What an operator configures or asks for: made by a builder, or from the settings.
          "TabletServerConfig",
          "LogOptions",
          "SSTableOptions",
          "RowQuery",
          "ReadRequest",
          "MemoryPlan",
          "HistoryPlan",
          "ClientContext",
          // Numbers and findings, only ever shown.
          "LogStatistics",
          "CacheStatistics",
          "ClusterStatus",
          "ClusterStatus.Server",
          "ApplicationStatus",
          "WebtableReport.Result",
          "CheckReport",
          "Summary",
          "HistoryRun.Report",
          // All that a part takes from outside, or sees at a time: to group it would hide it.
          "TabletEnvironment",
          "Master.Environment",
          "TabletServer.Environment",
          "TabletStorage",
          "ComponentStatus",
          "ClusterSnapshot.Tablet",
          "Call");

  /** A cell's parts, not a cell: an object for each cell written would be too much. */
  private static final Set<String> WIDE_METHODS =
      Set.of("CellBlockWriter.add", "CellBlockWriter.addKeyAndNumbers");

  /** One word for one thing: a tablet, the commit log, an SSTable. */
  private static final Pattern FOREIGN_WORDS =
      Pattern.compile("(^|_)(region|regions|wal|wals|hfile|hfiles|hregion)(_|$)");

  /** Packages that would say nothing of what is in them. */
  private static final Pattern EMPTY_NAMES =
      Pattern.compile("(^|\\.)(utils?|commons?|helpers?|managers?)(\\.|$)");

  /** A seed of the clock or of nobody: a test that passed once may fail next time. */
  private static final Pattern DRAWN_SEED =
      Pattern.compile("new Random\\(\\)|(?i:seed)\\w* =[^;]*(nanoTime|currentTimeMillis)");

  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");

  /** A package or the end of one, a type, and a member of it, of which what follows is not read. */
  private static final Pattern NAME =
      Pattern.compile("((?:[a-z]\\w*\\.)*)([A-Z]\\w*[a-z]\\w*)(?:\\.(\\w+))?(?:[.(].*)?");

  /** Types that documents speak of and no source imports. */
  private static final Set<String> FOREIGN_TYPES =
      Set.of(
          "AsyncTable",
          "AvroAsTextInputFormat",
          "BufferedMutator",
          "ConnectionState",
          "ConnectionStateManager",
          "CuratorFramework",
          "Export",
          "HBaseTestingUtility",
          "Import",
          "ImportTsv",
          "Pages", // The reader's own.
          "RowCounter",
          "SyncTable",
          "TableSnapshotInputFormat",
          "Unsafe",
          "VerifyReplication");

  private static Path root;
  private static Sources sources;

  @BeforeAll
  static void read() throws IOException {
    // Maven runs the tests of a module in its directory.
    root = Path.of("").toRealPath().getParent();
    sources = Sources.read(root);
  }

  @Test
  void methodsFitOnAPage() {
    assertThat(sources.methods()).isNotEmpty();
    assertThat(sources.methods()).filteredOn(m -> m.lines() > METHOD_LINES_MAX).isEmpty();
  }

  @Test
  void filesAreNotLong() {
    assertThat(sources.files()).isNotEmpty();
    assertThat(sources.files()).filteredOn(f -> f.lines() > FILE_LINES_MAX).isEmpty();
  }

  @Test
  void nothingTakesMoreThanSixParameters() {
    assertThat(sources.methods())
        .filteredOn(m -> m.isMain() && m.parameters() > PARAMETERS_MAX)
        .extracting(Sources.Method::name)
        .filteredOn(name -> !isOfWideRecord(name))
        .isSubsetOf(WIDE_METHODS);
    assertThat(sources.types())
        .filteredOn(t -> t.isMain() && t.components() > PARAMETERS_MAX)
        .extracting(Sources.Type::qualified)
        .containsExactlyInAnyOrderElementsOf(WIDE_RECORDS);
  }

  /** Whether it is a constructor of a wide record that leaves some components out. */
  private static boolean isOfWideRecord(String method) {
    return method.endsWith(".<init>")
        && WIDE_RECORDS.contains(method.substring(0, method.length() - ".<init>".length()));
  }

  @Test
  void namesAreTheTermsOfTheField() {
    assertThat(sources.names())
        .filteredOn(name -> name.isMain() && FOREIGN_WORDS.matcher(words(name.text())).find())
        .isEmpty();
    assertThat(sources.files()).filteredOn(f -> EMPTY_NAMES.matcher(f.pack()).find()).isEmpty();
  }

  /** Campaigns alone draw seeds, in {@code Seeds}. */
  @Test
  void testsAreTheSameInEveryRun() throws IOException {
    List<Path> drawing = new ArrayList<>();
    for (Sources.SourceFile file : sources.files()) {
      Path path = file.path();
      if (path.toString().contains("/src/test/")
          && !path.endsWith("io/stele/Seeds.java")
          && DRAWN_SEED.matcher(Files.readString(root.resolve(path))).find()) {
        drawing.add(path);
      }
    }
    assertThat(drawing).isEmpty();
  }

  @Test
  void keysOfJobsAreNamedInOnePlace() throws IOException {
    List<Path> naming = new ArrayList<>();
    for (Sources.SourceFile file : sources.files()) {
      boolean isMain = file.path().toString().contains("/src/main/");
      if (isMain && Files.readString(root.resolve(file.path())).contains("\"mapreduce.stele.")) {
        naming.add(file.path().getFileName());
      }
    }
    assertThat(naming).containsExactly(Path.of("JobKeys.java"));
  }

  /** It brings other versions of what Hadoop brings: no other module may get them. */
  @Test
  void sparkIsInAModuleOfItsOwnThatNoOtherUses() throws IOException {
    List<Path> using = new ArrayList<>();
    try (Stream<Path> modules = Files.list(root)) {
      for (Path pom : modules.map(module -> module.resolve("pom.xml")).toList()) {
        if (Files.exists(pom)
            && Pattern.compile("org\\.apache\\.spark|stele-spark")
                .matcher(Files.readString(pom))
                .find()) {
          using.add(root.relativize(pom));
        }
      }
    }
    assertThat(using).containsExactly(Path.of("spark/pom.xml"));
  }

  /**
   * Modules use each other's test jars, which Maven does not make where tests are left out whole.
   */
  @Test
  void theLauncherBuildsTheTestJarsThatModulesUse() throws IOException {
    assertThat(Files.readString(root.resolve("bin/stele")))
        .contains("-DskipTests")
        .doesNotContain("maven.test.skip");
  }

  @Test
  void linksInDocumentsLeadSomewhere() throws IOException {
    List<String> dead = new ArrayList<>();
    for (Path document : documents()) {
      Matcher link = LINK.matcher(Files.readString(document));
      while (link.find()) {
        String target = link.group(1).replaceFirst("#.*", "");
        if (!target.contains(":") && !Files.exists(document.resolveSibling(target))) {
          dead.add(root.relativize(document) + ": " + link.group(1));
        }
      }
    }
    assertThat(dead).isEmpty();
  }

  @Test
  void documentsNameWhatExists() throws IOException {
    List<String> unknown = new ArrayList<>();
    for (Path document : documents()) {
      Matcher code = CODE.matcher(Files.readString(document));
      while (code.find()) {
        Matcher name = NAME.matcher(code.group(1));
        if (name.matches()
            && !FOREIGN_TYPES.contains(name.group(2))
            && !sources.has(name.group(1), name.group(2), name.group(3))) {
          unknown.add(root.relativize(document) + ": " + code.group(1));
        }
      }
    }
    assertThat(unknown).isEmpty();
  }

  @Test
  void linesOfDocumentsAreReadable() throws IOException {
    List<String> wide = new ArrayList<>();
    for (Path document : documents()) {
      List<String> lines = Files.readAllLines(document);
      for (int i = 0; i < lines.size(); i++) {
        // A row of a table has to be one line.
        if (lines.get(i).length() > DOCUMENT_LINE_MAX && !lines.get(i).startsWith("|")) {
          wide.add(root.relativize(document) + ":" + (i + 1));
        }
      }
    }
    assertThat(wide).isEmpty();
  }

  /** {@code readWALFile} as {@code read_wal_file}. */
  private static String words(String name) {
    return name.replaceAll("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_")
        .toLowerCase(Locale.ROOT);
  }

  private static List<Path> documents() throws IOException {
    try (Stream<Path> top = Files.list(root);
        Stream<Path> docs = Files.walk(root.resolve("docs"))) {
      List<Path> documents =
          Stream.concat(top, docs).filter(p -> p.toString().endsWith(".md")).sorted().toList();
      assertThat(documents).contains(root.resolve("README.md"), root.resolve("CONTRIBUTING.md"));
      return documents;
    }
  }
}
