package io.stele.cli.embedded;

/** What an embedded Hadoop can be without for a while. */
public enum Outage {
  /** ZooKeeper; sessions that are renewed in time after its return go on. */
  ZOOKEEPER,
  /** The NameNode, which then reads its namespace again. */
  NAMENODE,
  /** One DataNode; with one in all, no file can be read or written. */
  DATANODE,
  /**
   * Space on the disks of all DataNodes: blocks that are being written fail as they do when a disk
   * has no space left, and none is begun. Files can be read.
   */
  DISK_SPACE,
  /** Space within a quota on all of HDFS: no block is begun; those begun before are written on. */
  QUOTA
}
