package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real servers on a real YARN. */
final class ServersOnYarnIT {
  @TempDir private static Path directory;

  @Test
  void startsServesIsUpgradedUnderWritesAndStopsInOrder() throws Exception {
    try (TestingServer zooKeeper = new TestingServer();
        TestCluster cluster = new TestCluster(directory)) {
      Configuration conf = cluster.conf(zooKeeper);
      conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "2");
      conf.set("stele.yarn.tabletserver.memory", "512m");
      conf.set("stele.tabletserver.memtable.total.bytes", "32m");
      conf.set("stele.tabletserver.memtable.bytes", "8m");
      conf.set("stele.tabletserver.cache.bytes", "32m");
      List<String> lines = new ArrayList<>();
      StartOptions options = StartOptions.of(List.of(cluster.emptyJar()));
      try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
        long begin = System.nanoTime();
        ApplicationId id = submitter.start(options, System.out::println);
        System.out.printf("start to all registered: %.1f s%n", seconds(begin));
        upgrade(cluster, conf, submitter, options);
        begin = System.nanoTime();
        assertThat(submitter.stop(Duration.ofSeconds(90), lines::add))
            .contains(new StopOutcome(true, 0));
        System.out.printf("stop: %.1f s%n%s%n", seconds(begin), String.join("\n", lines));
        assertThat(submitter.status(id).state()).isEqualTo("FINISHED");
        // Nobody had to be killed: each tablet server gave its tablets away and ended.
        assertThat(lines).noneMatch(line -> line.matches("tabletserver-\\d is stopping.*"));
      }
    }
  }

  @Test
  void aMasterThatCannotComeUpIsReportedWithItsReasonInsteadOfAStart(@TempDir Path own)
      throws Exception {
    try (TestingServer zooKeeper = new TestingServer();
        TestCluster cluster = new TestCluster(own);
        ServerSocket taken = new ServerSocket(0)) {
      Configuration conf = cluster.conf(zooKeeper);
      conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "1");
      conf.set(Keys.YARN_FAILURES_MAX.name(), "1");
      conf.set(Keys.MASTER_PORT.name(), Integer.toString(taken.getLocalPort()));
      try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
        StartOptions options = StartOptions.of(List.of(cluster.emptyJar()));
        assertThatThrownBy(() -> submitter.start(options, System.out::println))
            .isInstanceOfSatisfying(
                SteleException.class,
                // On a slow machine a master has its lock for so long that it counts as having run.
                e ->
                    assertThat(e.code())
                        .isIn(SteleException.Code.REFUSED, SteleException.Code.RETRY_LATER))
            .hasMessageContainingAll(
                "(container_", ": The master stops: ", Integer.toString(taken.getLocalPort()));
      }
    }
  }

  /** With another setting: processes of both run side by side, and no write fails. */
  private static void upgrade(
      TestCluster cluster, Configuration conf, YarnSubmitter before, StartOptions options)
      throws Exception {
    ApplicationStatus old = before.status().orElseThrow();
    Configuration changed = new Configuration(conf);
    changed.set("stele.tabletserver.memtable.bytes", "7m");
    try (Stele stele = Stele.connect(conf);
        AcknowledgedWrites writes = new AcknowledgedWrites(stele, "writes", 4);
        YarnSubmitter submitter = YarnSubmitter.connect(changed)) {
      writes.awaitOneInEachTablet();
      writes.longestGap();
      long begin = System.nanoTime();
      submitter.upgrade(options, System.out::println);
      System.out.printf("upgrade: %.1f s%n", seconds(begin));
      writes.awaitOneInEachTablet();
      System.out.printf("longest gap of writes: %s%n", writes.longestGap());
      ApplicationStatus now = submitter.status().orElseThrow();
      assertThat(containers(now)).hasSameSizeAs(containers(old));
      assertThat(containers(now)).doesNotContainAnyElementsOf(containers(old));
      assertThat(now.components()).noneMatch(component -> component.restarts() > 0);
      for (String container : containers(now)) {
        assertThat(settingsOf(cluster, container)).as(container).contains("<value>7m</value>");
      }
      writes.check();

      // The same again: there is nothing to do.
      submitter.upgrade(options, System.out::println);
      assertThat(containers(submitter.status().orElseThrow())).isEqualTo(containers(now));
    }
  }

  private static Set<String> containers(ApplicationStatus status) {
    return status.components().stream().map(ComponentStatus::container).collect(Collectors.toSet());
  }

  /** The configuration that YARN put into the container's directory. */
  private static String settingsOf(TestCluster cluster, String container) throws IOException {
    try (Stream<Path> files = Files.walk(cluster.yarn().getTestWorkDir().toPath().toRealPath())) {
      Path file =
          files
              .filter(path -> path.endsWith(Path.of(container, ApplicationLayout.CONF_FILE)))
              .findFirst()
              .orElseThrow();
      return Files.readString(file);
    }
  }

  private static double seconds(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }
}
