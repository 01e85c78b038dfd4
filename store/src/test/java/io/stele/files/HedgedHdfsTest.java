package io.stele.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

final class HedgedHdfsTest {
  private static final URI CLUSTER = URI.create("hdfs://cluster/");
  private static final String KEY = "dfs.client.failover.proxy.provider.cluster";
  private static final String HA = "org.apache.hadoop.hdfs.server.namenode.ha.";

  private static String providerInPlaceOf(String provider) {
    Configuration conf = new Configuration(false);
    conf.set(KEY, provider);
    HedgedHdfs.askActiveNameNode(conf, CLUSTER);
    return conf.get(KEY);
  }

  @Test
  void readsAskNoObserverWhichDoesNotKnowWhatTheOtherClientHasChanged() throws Exception {
    assertThat(providerInPlaceOf(HA + "ObserverReadProxyProvider"))
        .isEqualTo(HA + "ConfiguredFailoverProxyProvider");
    assertThat(providerInPlaceOf(HA + "ObserverReadProxyProviderWithIPFailover"))
        .isEqualTo(HA + "IPFailoverProxyProvider");
    for (String kind : new String[] {"ConfiguredFailover", "IPFailover", "RequestHedging"}) {
      String other = HA + kind + "ProxyProvider";
      assertThat(providerInPlaceOf(other)).isEqualTo(other);
      assertThat(Class.forName(other)).isNotNull();
    }
  }

  @Test
  void aNameNodeWithoutOthersIsAskedAsBefore() {
    Configuration conf = new Configuration(false);
    HedgedHdfs.askActiveNameNode(conf, CLUSTER);
    assertThat(conf).isEmpty();
  }
}
