package io.stele.cli.embedded;

/** What an embedded Hadoop can be without for a while. */
public enum Outage {
  /** ZooKeeper, killed; sessions that are renewed in time after its return go on. */
  ZOOKEEPER,
  /** ZooKeeper hangs: connections stay open, but silent. */
  SILENT_ZOOKEEPER,
  /** The NameNode, which then reads its namespace again. */
  NAMENODE,
  /** One DataNode; with one in all, no file can be read or written. */
  DATANODE,
  /**
   * One DataNode, which comes back without the blocks that it had. Only where each block is on
   * several; it waits until all are again on as many DataNodes as they should be.
   */
  DATANODE_DISK,
  /**
   * Space on the disks of all DataNodes: blocks that are being written fail as they do when a disk
   * has no space left, and none is begun. Files can be read.
   */
  DISK_SPACE,
  /** Space within a quota on all of HDFS: no block is begun; those begun before are written on. */
  QUOTA
}
