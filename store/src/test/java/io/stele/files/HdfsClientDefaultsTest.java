package io.stele.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.MemoryPlan;
import io.stele.config.ProcessMemory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.client.impl.DfsClientConf;
import org.junit.jupiter.api.Test;

class HdfsClientDefaultsTest {
  private static final String FIRST =
      "dfs.client.block.write.locateFollowingBlock.initial.delay.ms";

  @Test
  void theClientAsksAgainSoonAndNoLessLong() {
    HdfsConfiguration.init();
    Configuration conf = new Configuration();
    DfsClientConf before = new DfsClientConf(conf);

    HdfsClientDefaults.shortenWaits(conf);

    DfsClientConf after = new DfsClientConf(conf);
    assertThat(after.getBlockWriteLocateFollowingInitialDelayMs()).isLessThan(10);
    assertThat(sum(after)).isGreaterThan(sum(before));
  }

  @Test
  void aHostThatIsGoneIsNotTriedForLong() {
    Configuration conf = new Configuration();
    assertThat(conf.getInt("ipc.client.connect.max.retries.on.timeouts", 45)).isEqualTo(45);
    HdfsClientDefaults.shortenWaits(conf);
    assertThat(conf.get("ipc.client.connect.max.retries.on.timeouts")).isEqualTo("1");
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

    HdfsClientDefaults.shortenWaits(read);

    HdfsClientDefaults.writeInLargeSteps(read, MemoryPlan.STREAM_BYTES_MOST);
    DfsClientConf client = new DfsClientConf(read);
    assertThat(client.getBlockWriteLocateFollowingInitialDelayMs()).isEqualTo(5);
    assertThat(client.getWritePacketSize()).isEqualTo(480 << 10);
    assertThat(client.getDefaultChecksumOpt().getBytesPerChecksum()).isEqualTo(4 << 10);
    assertThat(client.getWriteMaxPackets()).isEqualTo(2);
  }

  @Test
  void whatSomebodyHasSetStays() {
    Configuration conf = new Configuration();
    conf.set(FIRST, "300");
    conf.set("dfs.client.write.max-packets-in-flight", "100");
    conf.set("dfs.client-write-packet-size", "100000");
    conf.set("dfs.bytes-per-checksum", "1024");

    HdfsClientDefaults.shortenWaits(conf);

    HdfsClientDefaults.writeInLargeSteps(conf, 5 << 20);
    DfsClientConf client = new DfsClientConf(conf);
    assertThat(conf.get(FIRST)).isEqualTo("300");
    assertThat(client.getWriteMaxPackets()).isEqualTo(100);
    assertThat(client.getWritePacketSize()).isEqualTo(100_000);
    assertThat(client.getDefaultChecksumOpt().getBytesPerChecksum()).isEqualTo(1024);
  }

  @Test
  void packetsThatSomebodyHasSetAreHeldInTheSameMemory() {
    Configuration conf = new Configuration();
    conf.set("dfs.client-write-packet-size", String.valueOf(1 << 20));

    HdfsClientDefaults.writeInLargeSteps(conf, 8 << 20);

    assertThat(new DfsClientConf(conf).getWriteMaxPackets()).isEqualTo(6);
  }

  @Test
  void inLittleMemoryPacketsAreSmaller() {
    for (long heap : new long[] {100 << 20, 188 << 20, 400 << 20, 4L << 30}) {
      Configuration conf = new Configuration();
      long held = MemoryPlan.streamBytes(new ProcessMemory(heap, 0));

      HdfsClientDefaults.writeInLargeSteps(conf, held);

      DfsClientConf client = new DfsClientConf(conf);
      assertThat(client.getWriteMaxPackets()).isEqualTo(2);
      assertThat(4L * client.getWritePacketSize()).isBetween(held - 4, held);
    }
  }

  @Test
  void blocksOfOtherSizesKeepTheirChecksums() {
    Configuration conf = new Configuration();
    conf.set("dfs.blocksize", String.valueOf((1 << 20) + 512));

    HdfsClientDefaults.writeInLargeSteps(conf, 5 << 20);

    assertThat(new DfsClientConf(conf).getDefaultChecksumOpt().getBytesPerChecksum())
        .isEqualTo(512);
  }
}
