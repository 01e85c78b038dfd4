package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.Keys;
import io.stele.model.SteleException;
import io.stele.runtime.SystemRuntime;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.Credentials;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an upgrade may change. */
final class LauncherTest {
  @TempDir Path directory;
  private int written;

  private Configuration settings(String root) {
    Configuration conf = new Configuration();
    conf.set(Keys.ROOT_DIR.name(), root);
    return conf;
  }

  private String root() {
    return directory.resolve("root").toUri().toString();
  }

  private Deployment deployment(Configuration conf) throws Exception {
    Path jars = directory.resolve("jars-" + ++written + ".zip");
    Files.createFile(jars);
    Path file = directory.resolve("conf-" + written + ".xml");
    try (OutputStream out = Files.newOutputStream(file)) {
      conf.writeXml(out);
    }
    return new Deployment(
        new org.apache.hadoop.fs.Path(jars.toUri()), new org.apache.hadoop.fs.Path(file.toUri()));
  }

  private Launcher launcher(Configuration conf) throws Exception {
    return new Launcher(
        new Launch(conf, deployment(conf), "application_1_0001"),
        YarnSettings.of(conf),
        new org.apache.hadoop.fs.Path(root()),
        kind -> "none",
        new Credentials(),
        new YarnNodeManagers(SystemRuntime.INSTANCE, conf));
  }

  @Test
  void settingsMayChangeButNotTheDirectoryOfTheData() throws Exception {
    Configuration conf = settings(root());
    Launcher launcher = launcher(conf);
    Configuration other = settings(root());
    other.set(Keys.MEMTABLE_BYTES.name(), "128m");
    launcher.check(deployment(other));
    Deployment elsewhere = deployment(settings(root() + "-2"));
    assertThatThrownBy(() -> launcher.check(elsewhere))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContainingAll(Keys.ROOT_DIR.name(), "root-2");
  }

  @Test
  void theLockServiceStays() throws Exception {
    Configuration conf = settings(root());
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), "zk1:2181,zk2:2181");
    Launcher launcher = launcher(conf);
    Configuration same = settings(root());
    same.set(Keys.ZOOKEEPER_QUORUM.name(), "zk2, zk1:2181");
    launcher.check(deployment(same));
    Configuration moved = settings(root());
    moved.set(Keys.ZOOKEEPER_QUORUM.name(), "zk2:2181,zk3:2181");
    Deployment deployment = deployment(moved);
    assertThatThrownBy(() -> launcher.check(deployment))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContainingAll(Keys.ZOOKEEPER_QUORUM.name(), "zk3");
  }

  @Test
  void theSizeOfProcessesStays() throws Exception {
    Configuration conf = settings(root());
    Launcher launcher = launcher(conf);
    Configuration larger = settings(root());
    larger.set(Keys.YARN_TABLETSERVER_MEMORY.name(), "9g");
    Deployment deployment = deployment(larger);
    assertThatThrownBy(() -> launcher.check(deployment)).hasMessageContaining("tabletserver");
  }
}
