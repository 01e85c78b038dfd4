/**
 * A real Hadoop on this one machine: HDFS, YARN and the MapReduce history server in a JVM of their
 * own, ZooKeeper and containers in processes of their own. For the demo, torture and tests.
 * Internal.
 *
 * <p>{@link io.stele.cli.embedded.EmbeddedHadoop} starts and ends it; {@link
 * io.stele.cli.embedded.HadoopDaemons} is what runs in that JVM.
 */
package io.stele.cli.embedded;
