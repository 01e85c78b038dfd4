package io.stele.files;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsLocatedFileStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;

/**
 * Finds files that are being written to DataNodes which an operator takes away.
 *
 * <p>HDFS calls a DataNode decommissioned, or in maintenance, when others have enough replicas of
 * its blocks. The last block of an open file does not count (HDFS-17658), although its bytes may
 * have been flushed and acknowledged long ago: all its replicas may be on DataNodes that HDFS says
 * can be switched off. Once the file is closed, HDFS treats the block like any other.
 *
 * <p>Stateless; safe for use by any number of threads.
 */
public final class LeavingDataNodes {
  private LeavingDataNodes() {}

  /**
   * The open files in a directory of whose last block too few replicas are on DataNodes that stay.
   * Asks the NameNode once for many files. None if the file system is not HDFS itself, as behind a
   * mount table.
   *
   * @param least how many replicas must stay; all of them, if a file is to have fewer
   */
  public static List<Path> openFiles(FileSystem fs, Path directory, int least) throws IOException {
    List<Path> found = new ArrayList<>();
    if (fs instanceof DistributedFileSystem) {
      RemoteIterator<LocatedFileStatus> files = fs.listLocatedStatus(directory);
      while (files.hasNext()) {
        LocatedFileStatus file = files.next();
        if (file instanceof HdfsLocatedFileStatus onHdfs
            && isLeft(onHdfs.getLocatedBlocks(), Math.min(least, file.getReplication()))) {
          found.add(file.getPath());
        }
      }
    }
    return found;
  }

  private static boolean isLeft(LocatedBlocks blocks, int least) {
    if (blocks == null || !blocks.isUnderConstruction()) {
      return false;
    }
    LocatedBlock last = blocks.getLastLocatedBlock();
    if (last == null || blocks.isLastBlockComplete()) {
      return false;
    }
    int stay = 0;
    for (DatanodeInfo node : last.getLocations()) {
      if (node.getAdminState() == DatanodeInfo.AdminStates.NORMAL) {
        stay++;
      }
    }
    return stay < least && stay < last.getLocations().length;
  }
}
