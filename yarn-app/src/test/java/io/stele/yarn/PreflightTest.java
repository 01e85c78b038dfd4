package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PreflightTest {
  private static final Duration WINDOW = Duration.ofMinutes(5);

  private final Configuration conf = new Configuration(false);

  @TempDir Path directory;

  @Test
  void aRootThatCannotBeMadeOrWrittenIsRefusedWithWhatToDo() throws IOException {
    FileSystem fs = FileSystem.getLocal(new Configuration());
    org.apache.hadoop.fs.Path parent = new org.apache.hadoop.fs.Path(directory.toUri());
    org.apache.hadoop.fs.Path root = new org.apache.hadoop.fs.Path(parent, "a/stele");
    ApplicationLayout layout = new ApplicationLayout(root);
    Preflight.rootIsWritable(fs, layout);
    assertThat(directory).as("nothing is changed").isEmptyDirectory();

    fs.setPermission(parent, new FsPermission("555"));
    try {
      requireRefused(fs, layout);
    } finally {
      fs.setPermission(parent, new FsPermission("755"));
    }
    fs.mkdirs(layout.apps()); // As somebody else's, who ran it before.
    Preflight.rootIsWritable(fs, layout);
    fs.setPermission(layout.apps(), new FsPermission("555"));
    requireRefused(fs, layout);
  }

  private static void requireRefused(FileSystem fs, ApplicationLayout layout) {
    assertThatThrownBy(() -> Preflight.rootIsWritable(fs, layout))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContainingAll(
            "hdfs dfs -mkdir -p " + layout.root().toUri().getPath() + "'",
            "hdfs dfs -chown " + System.getProperty("user.name") + " ",
            "stele.root.dir");
  }

  @Test
  void anotherHadoopIsWarnedOf() {
    assertThat(Preflight.hadoopWarning("3.5.0")).isEmpty();
    assertThat(Preflight.hadoopWarning("3.50.0")).isPresent();
    assertThat(Preflight.hadoopWarning("3.3.6").orElseThrow()).contains("Hadoop 3.3.6", "3.5:");
  }

  @Test
  void fewAttemptsAreSaidWithWhatToSet() {
    assertThat(Preflight.attemptsWarning(conf, WINDOW).orElseThrow())
        .contains("2 times within 5 minutes", "yarn.resourcemanager.am.global.max-attempts to 10");
    conf.set("yarn.resourcemanager.am.max-attempts", "3");
    assertThat(Preflight.attemptsWarning(conf, WINDOW).orElseThrow()).contains("3 times");
  }

  @Test
  void ofSeveralResourceManagersAllAreNamed() {
    conf.set("yarn.resourcemanager.address", "plain:1");
    IOException failure = new IOException("planted");
    assertThat(Preflight.noAnswer(conf, failure)).hasMessageContaining("answers at plain:1 (");
    conf.setBoolean("yarn.resourcemanager.ha.enabled", true);
    conf.set("yarn.resourcemanager.ha.rm-ids", "one,two");
    conf.set("yarn.resourcemanager.hostname.one", "first");
    conf.set("yarn.resourcemanager.address.two", "second:8099");
    assertThat(Preflight.noAnswer(conf, failure))
        .hasMessageContaining("answers at first:8032, second:8099 (planted)");
  }

  @Test
  void enoughAttemptsAreNothingToSay() {
    conf.set("yarn.resourcemanager.am.global.max-attempts", "10");
    assertThat(Preflight.attemptsWarning(conf, WINDOW)).isEmpty();
    conf.unset("yarn.resourcemanager.am.global.max-attempts");
    conf.set("yarn.resourcemanager.am.max-attempts", "20");
    assertThat(Preflight.attemptsWarning(conf, WINDOW)).isEmpty();
  }
}
