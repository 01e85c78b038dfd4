package io.stele.cli.embedded;

/** What an embedded Hadoop can be without for a while. */
public enum Outage {
  /** ZooKeeper; sessions that are renewed in time after its return go on. */
  ZOOKEEPER,
  /** The NameNode, which then reads its namespace again. */
  NAMENODE,
  /** One DataNode; with one in all, no file can be read or written. */
  DATANODE
}
