package io.stele.cli.embedded;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.DataNodeFaultInjector;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.FsVolumeImpl;

/**
 * The disks of all DataNodes of this JVM, which are full until this is closed: what is written to a
 * block is not acknowledged, its pipeline ends with ENOSPC, and DataNodes and the NameNode see
 * volumes without space, so none is begun.
 *
 * <p>Bytes that are refused are in the block all the same, as where the disk is full of what others
 * write at the same time. A part of a packet is not: HDFS does not recover such a block before its
 * DataNode starts again ("Block length mismatch" in the DataNode's log).
 */
final class FullDisks implements AutoCloseable {
  private static final long AS_IT_IS = -1;

  private final List<FsVolumeImpl> volumes;

  private FullDisks(List<FsVolumeImpl> volumes) {
    this.volumes = volumes;
  }

  /** Fills them. */
  static FullDisks fill(MiniDFSCluster hdfs) throws IOException {
    List<FsVolumeImpl> volumes = new ArrayList<>();
    for (DataNode node : hdfs.getDataNodes()) {
      try (FsDatasetSpi.FsVolumeReferences references =
          node.getFSDataset().getFsVolumeReferences()) {
        for (FsVolumeSpi volume : references) {
          volumes.add((FsVolumeImpl) volume);
        }
      }
    }
    volumes.forEach(volume -> volume.setCapacityForTesting(0));
    DataNodeFaultInjector.set(
        new DataNodeFaultInjector() {
          @Override
          public void delaySendingAckToUpstream(String from) throws IOException {
            throw new IOException("No space left on device");
          }
        });
    return new FullDisks(volumes);
  }

  /** Makes room again. */
  @Override
  public void close() {
    DataNodeFaultInjector.set(new DataNodeFaultInjector());
    volumes.forEach(volume -> volume.setCapacityForTesting(AS_IT_IS));
  }
}
