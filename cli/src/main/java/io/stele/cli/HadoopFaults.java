package io.stele.cli;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.Outage;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Parts of the embedded Hadoop are away for a while. For one thread. */
final class HadoopFaults {
  private static final Duration AWAY_MAX = Duration.ofSeconds(25);

  private final TortureScene scene;

  HadoopFaults(TortureScene scene) {
    this.scene = scene;
  }

  /** All of them. */
  List<TortureFault> all() {
    return List.of(
        without("zookeeper", "be without ZooKeeper", Outage.ZOOKEEPER),
        without("stop-zookeeper", "have ZooKeeper suspended", Outage.SILENT_ZOOKEEPER),
        without("namenode", "be without the NameNode", Outage.NAMENODE),
        without("datanode", "be without a DataNode", Outage.DATANODE),
        without("datanode-disk", "have a DataNode lose its blocks", Outage.DATANODE_DISK),
        without("full-disks", "have the disks of all DataNodes full", Outage.DISK_SPACE),
        without("quota", "have a quota exhausted", Outage.QUOTA));
  }

  private TortureFault without(String name, String text, Outage outage) {
    return TortureFault.of(name, text, stele -> beWithout(outage));
  }

  private Optional<String> beWithout(Outage outage) throws IOException {
    Duration time = scene.upTo(AWAY_MAX);
    int which = scene.random().nextInt(EmbeddedHadoop.Options.DATA_NODES_MAX);
    String away = EmbeddedHadoop.beWithout(scene.ownHadoop(), outage, time, which);
    return Optional.of((away + " for " + time.toSeconds() + " s").strip());
  }
}
