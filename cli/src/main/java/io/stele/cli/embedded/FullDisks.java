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
 * The disks of all DataNodes of this JVM, which are full until this is closed: a block that is
 * being written fails as with ENOSPC, and DataNodes and the NameNode see volumes without space, so
 * none is begun.
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
          public void delayWriteToDisk() { // Called as data of a block is written.
            throwUnchecked(new IOException("No space left on device"));
          }
        });
    return new FullDisks(volumes);
  }

  /** The method that HDFS has for this declares nothing, though its caller expects failures. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> void throwUnchecked(Exception failure) throws E {
    throw (E) failure;
  }

  /** Makes room again. */
  @Override
  public void close() {
    DataNodeFaultInjector.set(new DataNodeFaultInjector());
    volumes.forEach(volume -> volume.setCapacityForTesting(AS_IT_IS));
  }
}
