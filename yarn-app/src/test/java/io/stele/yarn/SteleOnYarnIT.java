package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real servers on a real YARN. */
final class SteleOnYarnIT {
  @TempDir private static Path directory;

  @Test
  void startsServesAndStopsInOrder() throws Exception {
    try (TestingServer zooKeeper = new TestingServer();
        TestCluster cluster = new TestCluster(directory)) {
      Configuration conf = cluster.conf(zooKeeper);
      conf.set("stele.yarn.tabletserver.memory", "512m");
      conf.set("stele.tabletserver.memtable.total.bytes", "32m");
      conf.set("stele.tabletserver.memtable.bytes", "8m");
      conf.set("stele.tabletserver.cache.bytes", "32m");
      List<String> lines = new ArrayList<>();
      try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
        long begin = System.nanoTime();
        ApplicationId id =
            submitter.start(StartOptions.of(List.of(cluster.emptyJar())), System.out::println);
        System.out.printf("start to all registered: %.1f s%n", seconds(begin));
        begin = System.nanoTime();
        assertThat(submitter.stop(Duration.ofSeconds(90), lines::add)).isTrue();
        System.out.printf("stop: %.1f s%n%s%n", seconds(begin), String.join("\n", lines));
        assertThat(submitter.status(id).state()).isEqualTo("FINISHED");
        // Nobody had to be killed: each tablet server gave its tablets away and ended.
        assertThat(lines).noneMatch(line -> line.matches("tabletserver-\\d is stopping.*"));
      }
    }
  }

  private static double seconds(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }
}
