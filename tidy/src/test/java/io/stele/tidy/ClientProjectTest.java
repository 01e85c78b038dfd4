package io.stele.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The project in {@code examples/client}, which people copy: no build of ours compiles it, so its
 * versions are compared with those of ours, and the README shows what is in it.
 */
class ClientProjectTest {
  private static final Path PROJECT = Path.of("examples", "client");
  private static final Pattern PLUGIN =
      Pattern.compile("<artifactId>(maven-\\w+-plugin)</artifactId>\\s*<version>([^<]+)</version>");
  private static final Pattern DEPENDENCY =
      Pattern.compile(
          "<dependency>\\s*<groupId>[^<]+</groupId>\\s*<artifactId>([^<]+)</artifactId>");
  private static final Pattern JAVA_BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  private static Path root;
  private static String ours;
  private static String its;

  @BeforeAll
  static void read() throws IOException {
    // Maven runs the tests of a module in its directory.
    root = Path.of("").toRealPath().getParent();
    ours = Files.readString(root.resolve("pom.xml"));
    its = Files.readString(root.resolve(PROJECT).resolve("pom.xml"));
  }

  /** The text of the first element {@code name} of a pom. */
  private static String first(String pom, String name) {
    Matcher matcher = Pattern.compile("<" + name + ">([^<]*)</" + name + ">").matcher(pom);
    assertThat(matcher.find()).as(name).isTrue();
    return matcher.group(1);
  }

  private static Set<String> found(Pattern pattern, String pom) {
    return pattern
        .matcher(pom)
        .results()
        .map(match -> match.group(1) + (match.groupCount() > 1 ? " " + match.group(2) : ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void itsVersionsAreOurs() {
    assertThat(first(its, "stele.version")).isEqualTo(first(ours, "version"));
    assertThat(first(its, "maven.compiler.release"))
        .isEqualTo(first(ours, "maven.compiler.release"));
    assertThat(found(PLUGIN, its)).isNotEmpty().isSubsetOf(found(PLUGIN, ours));
  }

  /** So that Maven takes the versions of our pom, which it imports. */
  @Test
  void itsDependenciesHaveNoVersionsOfTheirOwn() {
    String management = its.substring(0, its.indexOf("</dependencyManagement>"));
    String used = its.substring(management.length(), its.indexOf("<build>"));
    assertThat(management)
        .contains("<artifactId>stele</artifactId>", "<type>pom</type>", "<scope>import</scope>");
    assertThat(used).doesNotContain("<version>");
    assertThat(found(DEPENDENCY, used))
        .contains("stele-store", "stele-mapreduce")
        .isSubsetOf(found(DEPENDENCY, ours.substring(0, ours.indexOf("</dependencyManagement>"))));
  }

  @Test
  void theReadmeShowsPartsOfItsPrograms() throws IOException {
    List<String> programs = new ArrayList<>();
    for (String name : List.of("Pages.java", "AnchorsOfHosts.java")) {
      Path program = root.resolve(PROJECT).resolve("src/main/java").resolve(name);
      programs.add(withoutIndents(Files.readString(program)));
    }
    Matcher block = JAVA_BLOCK.matcher(Files.readString(root.resolve("README.md")));
    List<String> shown = new ArrayList<>();
    while (block.find()) {
      shown.add(withoutIndents(block.group(1)));
    }
    assertThat(shown).hasSameSizeAs(programs);
    for (int i = 0; i < shown.size(); i++) {
      assertThat(programs.get(i)).contains(shown.get(i));
    }
  }

  private static String withoutIndents(String text) {
    return text.lines().map(String::strip).collect(Collectors.joining("\n"));
  }
}
