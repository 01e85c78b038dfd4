package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** Which reducer gets a row. */
class TabletPartitionerTest {
  private static TabletPartitioner of(Bytes... starts) {
    Configuration conf = new Configuration(false);
    TabletPartitioner.setStarts(conf, List.of(starts));
    TabletPartitioner partitioner = new TabletPartitioner();
    partitioner.setConf(conf);
    return partitioner;
  }

  @Test
  void aRowGoesToThePartitionThatItIsIn() {
    TabletPartitioner partitioner = of(Bytes.of("b"), Bytes.of(new byte[] {'c', 0, (byte) 0xff}));
    assertThat(partitioner.getPartition(Bytes.of("a"), "", 3)).isZero();
    assertThat(partitioner.getPartition(Bytes.of("b"), "", 3)).isEqualTo(1);
    assertThat(partitioner.getPartition(Bytes.of("c"), "", 3)).isEqualTo(1);
    assertThat(partitioner.getPartition(Bytes.of(new byte[] {'c', 0, (byte) 0xff}), "", 3))
        .isEqualTo(2);
    assertThat(partitioner.getPartition(Bytes.of("z"), "", 3)).isEqualTo(2);
  }

  @Test
  void withOnePartitionAllRowsAreInIt() {
    assertThat(of().getPartition(Bytes.of("a"), "", 1)).isZero();
  }
}
