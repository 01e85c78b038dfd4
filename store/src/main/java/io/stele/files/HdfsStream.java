package io.stele.files;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import org.apache.hadoop.crypto.CryptoOutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.hdfs.DFSOutputStream;
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

  @Override
  public int replicas() throws IOException {
    return out.getCurrentBlockReplication();
  }

  @Override
  public Optional<String> firstNode() {
    OutputStream inner = out.getWrappedStream();
    if (inner instanceof CryptoOutputStream encrypted) {
      inner = encrypted.getWrappedStream();
    }
    if (inner instanceof DFSOutputStream dfs) {
      DatanodeInfo[] pipeline = dfs.getPipeline(); // Null between two blocks.
      if (pipeline != null && pipeline.length > 0) {
        return Optional.of(pipeline[0].getXferAddr());
      }
    }
    return Optional.empty();
  }
}
