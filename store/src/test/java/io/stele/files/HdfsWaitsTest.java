package io.stele.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.client.impl.DfsClientConf;
import org.junit.jupiter.api.Test;

class HdfsWaitsTest {
  private static final String FIRST =
      "dfs.client.block.write.locateFollowingBlock.initial.delay.ms";

  @Test
  void theClientAsksAgainSoonAndNoLessLong() {
    HdfsConfiguration.init();
    Configuration conf = new Configuration();
    DfsClientConf before = new DfsClientConf(conf);

    HdfsWaits.shorten(conf);

    DfsClientConf after = new DfsClientConf(conf);
    assertThat(after.getBlockWriteLocateFollowingInitialDelayMs()).isLessThan(10);
    assertThat(sum(after)).isGreaterThan(sum(before));
  }

  /** How long it waits in all. */
  private static long sum(DfsClientConf conf) {
    long sum = 0;
    long wait = conf.getBlockWriteLocateFollowingInitialDelayMs();
    for (int i = 0; i < conf.getNumBlockWriteLocateFollowingRetry(); i++) {
      sum += wait;
      wait = Math.min(2 * wait, conf.getBlockWriteLocateFollowingMaxDelayMs());
    }
    return sum;
  }

  @Test
  void aDefaultThatWasWrittenToAFileIsStillADefault() throws IOException {
    HdfsConfiguration.init();
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    new Configuration().writeXml(file); // All of it.
    Configuration read = new Configuration(false);
    read.addResource(new ByteArrayInputStream(file.toByteArray()));
    assertThat(read.get(FIRST)).isEqualTo("400");

    HdfsWaits.shorten(read);

    assertThat(read.get(FIRST)).isEqualTo("5");
  }

  @Test
  void whatSomebodyHasSetStays() {
    Configuration conf = new Configuration();
    conf.set(FIRST, "300");

    HdfsWaits.shorten(conf);

    assertThat(conf.get(FIRST)).isEqualTo("300");
  }
}
