package io.stele.files;

import io.stele.model.CorruptionException;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import org.apache.hadoop.security.AccessControlException;

/** What a process does about HDFS being away when it starts: it waits, as it does for others. */
public final class HdfsOutage {
  /** How long a process that starts waits before it says that it cannot. */
  public static final Duration PATIENCE = Duration.ofMinutes(2);

  private HdfsOutage() {}

  /**
   * Whether what failed may succeed later without anybody's help. An outage has many faces (no
   * NameNode, safe mode, no DataNode with a block, a lost connection), so this names what is no
   * outage.
   */
  public static boolean mayHaveCaused(IOException failure) {
    return !(failure instanceof CorruptionException
        || failure instanceof NotDurableException
        || failure instanceof BindException
        || failure instanceof AccessControlException);
  }
}
