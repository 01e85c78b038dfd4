package io.stele.files;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * HDFS whose reads do not wait for a DataNode that hangs, or whose host is gone. A read at a
 * position that has no answer after half a second is sent to another replica as well, and the first
 * answer counts (a hedged read). Any read from a DataNode is given up after five seconds, by
 * default a minute; the next reads of that stream then avoid the DataNode.
 *
 * <p>Only reads have a client with these settings. A write that waits for less time than its
 * DataNodes do among each other would take the first of them for the one that hangs.
 *
 * <p>Safe for use by any number of threads, as HDFS is.
 */
public final class HedgedHdfs extends DistributedFileSystem {
  private static final String TIMEOUT = "dfs.client.socket-timeout";
  private static final int TIMEOUT_DEFAULT_MILLIS = 60_000;
  private static final int TIMEOUT_MILLIS = 5_000;
  private static final String THREADS = "dfs.client.hedged.read.threadpool.size";
  private static final int THREADS_MIN = 8;
  private static final int THREADS_MAX = 64;

  /** Each read that hangs keeps a thread, and a buffer of up to a megabyte. */
  private static final long HEAP_BYTES_PER_THREAD = 32L << 20;

  private static final String PROXY_PROVIDER = "dfs.client.failover.proxy.provider.";
  private static final String PROVIDERS = "org.apache.hadoop.hdfs.server.namenode.ha.";

  private final DistributedFileSystem reads = new DistributedFileSystem();

  @Override
  public void initialize(URI uri, Configuration conf) throws IOException {
    super.initialize(uri, conf);
    Configuration impatient = new Configuration(conf);
    HdfsClientDefaults.replaceDefault(impatient, TIMEOUT, TIMEOUT_DEFAULT_MILLIS, TIMEOUT_MILLIS);
    HdfsClientDefaults.replaceDefault(impatient, THREADS, 0, threads());
    askActiveNameNode(impatient, uri);
    reads.initialize(uri, impatient);
  }

  /**
   * An Observer would answer the client that reads from before what the other one has changed: it
   * waits only for the changes that the same client knows.
   */
  static void askActiveNameNode(Configuration conf, URI uri) {
    String key = PROXY_PROVIDER + uri.getHost();
    String provider = conf.getTrimmed(key, "");
    if (provider.contains("Observer")) {
      boolean byAddress = provider.contains("IPFailover");
      conf.set(
          key, PROVIDERS + (byAddress ? "IPFailover" : "ConfiguredFailover") + "ProxyProvider");
    }
  }

  private static int threads() {
    long fair = Runtime.getRuntime().maxMemory() / HEAP_BYTES_PER_THREAD;
    return Math.toIntExact(Math.max(THREADS_MIN, Math.min(fair, THREADS_MAX)));
  }

  @Override
  public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
    return reads.open(fixRelativePart(file), bufferBytes);
  }

  @Override
  public void close() throws IOException {
    try {
      reads.close();
    } finally {
      super.close();
    }
  }
}
