/**
 * A real Hadoop on this one machine: ZooKeeper, HDFS, YARN and the MapReduce history server, in a
 * JVM of their own, with containers that are processes of their own. For the demo and for tests.
 * Internal.
 *
 * <p>{@link io.stele.cli.embedded.EmbeddedHadoop} starts and ends it; {@link
 * io.stele.cli.embedded.HadoopDaemons} is what runs in that JVM.
 */
package io.stele.cli.embedded;
