package io.stele.mapreduce.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The programs of {@code examples/client}, which are in no module, compile. */
class ClientProgramsTest {
  private static final String DIRECTORY = "examples/client/src/main/java";

  @Test
  void eachCompilesAsItStands() throws IOException {
    List<String> names;
    try (Stream<Path> files = Files.list(Repository.root().resolve(DIRECTORY))) {
      names = files.map(file -> file.getFileName().toString()).sorted().toList();
    }
    assertThat(names).containsExactly("AnchorsOfHosts.java", "Pages.java");
    for (String name : names) {
      DocumentExample.ofFile(DIRECTORY + "/" + name).compile(System.getProperty("java.class.path"));
    }
  }
}
