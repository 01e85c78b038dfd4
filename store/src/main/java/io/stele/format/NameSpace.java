package io.stele.format;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a process sees of a file system's names: which files there are, and how long.
 *
 * <p>Reads of an HDFS with Observer NameNodes may be answered from an older state. Such an answer
 * is never older than this process's own changes, but may be older than those of others, which is
 * what recovery and garbage collection decide by.
 */
public final class NameSpace {
  private static final Logger LOG = LoggerFactory.getLogger(NameSpace.class);

  private NameSpace() {}

  /**
   * Makes every later answer to this process reflect all changes made until now. Call it between
   * learning of something and looking for it, and before anything is decided by what is
   * <em>not</em> there. Costs one call of the NameNode.
   */
  public static void catchUp(FileSystem fs) throws IOException {
    try {
      fs.msync();
    } catch (UnsupportedOperationException e) {
      LOG.trace("{} has no stale reads to guard against", fs.getUri(), e);
    }
  }
}
