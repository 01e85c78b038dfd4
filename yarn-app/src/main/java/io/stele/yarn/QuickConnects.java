package io.stele.yarn;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.net.StandardSocketFactory;

/**
 * Sockets of YARN's clients that give up connecting after {@value #CONNECT_MILLIS} ms. Hadoop RPC
 * shares one client among all that use equal socket factories, and with it the time limit for
 * connecting of whoever came first. So with the usual factory they would get the limit of HDFS, or
 * HDFS theirs.
 *
 * <p>Equal to each other and to nothing else. Safe for use by any number of threads.
 */
final class QuickConnects extends StandardSocketFactory {
  private static final int CONNECT_MILLIS = 5_000;

  /** Hadoop makes it by the name of its class. */
  QuickConnects() {}

  /**
   * Has clients try once to connect, for seconds. Where the configuration names a socket factory of
   * its own, that one is kept.
   */
  static void configure(Configuration conf) {
    conf.setInt(CommonConfigurationKeys.IPC_CLIENT_CONNECT_TIMEOUT_KEY, CONNECT_MILLIS);
    conf.setInt(CommonConfigurationKeys.IPC_CLIENT_CONNECT_MAX_RETRIES_KEY, 0);
    conf.setInt(CommonConfigurationKeys.IPC_CLIENT_CONNECT_MAX_RETRIES_ON_SOCKET_TIMEOUTS_KEY, 0);
    String usual = StandardSocketFactory.class.getName();
    String key = CommonConfigurationKeys.HADOOP_RPC_SOCKET_FACTORY_CLASS_DEFAULT_KEY;
    if (conf.getTrimmed(key, usual).equals(usual)) {
      conf.set(key, QuickConnects.class.getName());
    }
  }
}
