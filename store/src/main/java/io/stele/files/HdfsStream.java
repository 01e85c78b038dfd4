package io.stele.files;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.crypto.CryptoOutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSOutputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem.HdfsDataOutputStreamBuilder;
import org.apache.hadoop.hdfs.client.HdfsDataOutputStream;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;

/**
 * A file being written to HDFS. Apart from the rest, so that files can be written without HDFS's
 * classes unless replicas are asked for.
 */
record HdfsStream(HdfsDataOutputStream out) implements ReplicatedStream {
  static Optional<ReplicatedStream> of(FSDataOutputStream out) {
    return out instanceof HdfsDataOutputStream hdfs
        ? Optional.of(new HdfsStream(hdfs))
        : Optional.empty();
  }

  /**
   * A file on some of {@code nodes}, if it can be; empty if HDFS is not asked itself, as behind a
   * mount table.
   */
  static Optional<FSDataOutputStreamBuilder<?, ?>> preferring(
      FileSystem fs, Path file, List<String> nodes) {
    if (!(fs.createFile(file) instanceof HdfsDataOutputStreamBuilder onHdfs)) {
      return Optional.empty();
    }
    InetSocketAddress[] addresses =
        nodes.stream().map(HdfsStream::address).toArray(InetSocketAddress[]::new);
    return Optional.of(onHdfs.overwrite(false).syncBlock().replicate().favoredNodes(addresses));
  }

  /** Without a look-up of its name, which may hang as well: HDFS takes numeric addresses. */
  private static InetSocketAddress address(String node) {
    int colon = node.lastIndexOf(':');
    return InetSocketAddress.createUnresolved(
        node.substring(0, colon), Integer.parseInt(node.substring(colon + 1)));
  }

  @Override
  public int replicas() throws IOException {
    return out.getCurrentBlockReplication();
  }

  @Override
  public List<String> nodes() {
    OutputStream inner = out.getWrappedStream();
    if (inner instanceof CryptoOutputStream encrypted) {
      inner = encrypted.getWrappedStream();
    }
    if (inner instanceof DFSOutputStream dfs) {
      DatanodeInfo[] pipeline = dfs.getPipeline(); // Null between two blocks.
      if (pipeline != null) {
        return Arrays.stream(pipeline).map(DatanodeInfo::getXferAddr).toList();
      }
    }
    return List.of();
  }
}
