package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ApplicationSweepTest {
  private static final Instant NOW = Instant.parse("2026-01-10T00:00:00Z");
  private static final Duration OLD = Duration.ofDays(2);
  private static final String OWN = "application_1_0009";
  private static final String ENDED = "application_1_0001";
  private static final String ALIVE = "application_1_0002";
  private static final String UNKNOWN_OLD = "application_7_0001";
  private static final String UNKNOWN_YOUNG = "application_7_0002";

  @TempDir Path root;
  private ApplicationLayout layout;

  @BeforeEach
  void files() throws IOException {
    layout = new ApplicationLayout(new org.apache.hadoop.fs.Path(root.toUri()));
    file("apps/lib/stele-own.zip", OLD);
    file("apps/lib/stele-old.zip", OLD);
    file("apps/lib/stele-young.zip", Duration.ofHours(23));
    file("apps/stele-main.state.appattempt_1_0001_000001", OLD);
    configurationOf(OWN, Duration.ZERO);
  }

  private void file(String name, Duration age) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, name);
    Files.setLastModifiedTime(file, FileTime.from(NOW.minus(age)));
  }

  private void configurationOf(String application, Duration age) throws IOException {
    file("apps/" + application + "/stele-cluster-1.xml", age);
    Files.setLastModifiedTime(root.resolve("apps/" + application), FileTime.from(NOW.minus(age)));
  }

  /** The names of what is left after a sweep. */
  private List<String> left(String directory) throws IOException {
    Map<String, ClusterClaim.Fate> fates =
        Map.of(ENDED, ClusterClaim.Fate.ENDED, ALIVE, ClusterClaim.Fate.ALIVE);
    Deployment deployment =
        new Deployment(layout.archive("own"), new org.apache.hadoop.fs.Path("/conf.xml"));
    new ApplicationSweep(FileSystem.getLocal(new Configuration()), layout, () -> NOW)
        .sweep(OWN, deployment, id -> fates.getOrDefault(id, ClusterClaim.Fate.UNKNOWN));
    try (Stream<Path> files = Files.list(root.resolve(directory))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.endsWith(".crc"))
          .sorted()
          .toList();
    }
  }

  @Test
  void whatNoApplicationCanNameAnyMoreIsDeleted() throws IOException {
    configurationOf(ENDED, Duration.ZERO);
    configurationOf(UNKNOWN_OLD, OLD);
    assertThat(left("apps"))
        .containsExactly(OWN, "lib", "stele-main.state.appattempt_1_0001_000001");
    assertThat(left("apps/lib")).containsExactly("stele-own.zip", "stele-young.zip");
  }

  @Test
  void nothingIsDeletedThatAnApplicationMayNameThatMayBeAlive() throws IOException {
    configurationOf(ENDED, OLD);
    configurationOf(ALIVE, OLD);
    assertThat(left("apps")).contains(ALIVE).doesNotContain(ENDED);
    assertThat(left("apps/lib")).contains("stele-old.zip");
  }

  @Test
  void anApplicationThatYarnDoesNotKnowMayBeAnotherYarnsWhileItIsYoung() throws IOException {
    configurationOf(UNKNOWN_YOUNG, Duration.ofHours(23));
    assertThat(left("apps")).contains(UNKNOWN_YOUNG);
    assertThat(left("apps/lib")).contains("stele-old.zip");
  }
}
