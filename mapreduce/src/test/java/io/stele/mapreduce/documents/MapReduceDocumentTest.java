package io.stele.mapreduce.documents;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.JobKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Nothing of {@code docs/mapreduce.md} goes untested, and the keys it names are those of code. */
class MapReduceDocumentTest {
  private static final String KEY = "mapreduce\\.stele(?:\\.[a-z]+)+";

  /** A key, and others that have the same beginning. */
  private static final Pattern KEYS = Pattern.compile("`(" + KEY + ")`((?:, `(?:\\.[a-z]+)+`)*)");

  private static final Pattern OTHER_END = Pattern.compile("`((?:\\.[a-z]+)+)`");
  private static final Pattern TAKEN =
      Pattern.compile("MapReduceBlock\\.([A-Z_]+)\\s*\\.(?:text|lines)");

  private static Document document;

  @BeforeAll
  static void read() throws IOException {
    document = Document.read(MapReduceBlock.DOCUMENT);
  }

  private static List<Path> javaFiles(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> tree = Files.walk(directory)) {
      return tree.filter(file -> file.toString().endsWith(".java")).toList();
    }
  }

  private static Set<String> documented() {
    Set<String> keys = new TreeSet<>();
    Matcher matcher = KEYS.matcher(document.text());
    while (matcher.find()) {
      String key = matcher.group(1);
      keys.add(key);
      OTHER_END
          .matcher(matcher.group(2))
          .results()
          .map(end -> end.group(1))
          .forEach(end -> keys.add(withEnd(key, end)));
    }
    return keys;
  }

  /** {@code a.b.c.d} with the end {@code .x.y} is {@code a.b.x.y}. */
  private static String withEnd(String key, String end) {
    String before = key;
    for (long parts = end.chars().filter(c -> c == '.').count(); parts > 0; parts--) {
      before = before.substring(0, before.lastIndexOf('.'));
    }
    return before + end;
  }

  @Test
  void everyBlockIsKnown() throws IOException {
    List<String> known = new ArrayList<>();
    for (MapReduceBlock block : MapReduceBlock.values()) {
      known.add(block.text());
    }
    assertThat(document.blocks())
        .as("blocks; MapReduceBlock has one for each, and some test runs it")
        .containsExactlyInAnyOrderElementsOf(known);
  }

  @Test
  void everyBlockIsTakenByATest() throws IOException {
    Set<String> taken = new TreeSet<>();
    try (Stream<Path> modules = Files.list(Repository.root())) {
      for (Path module : modules.toList()) {
        for (Path file : javaFiles(module.resolve("src/test"))) {
          TAKEN.matcher(Files.readString(file)).results().forEach(use -> taken.add(use.group(1)));
        }
      }
    }
    assertThat(taken)
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(MapReduceBlock.values()).map(Enum::name).toList());
  }

  @Test
  void itsKeysAreThoseThatPeopleSet() {
    assertThat(documented()).isEqualTo(JobKeys.names());
  }
}
