package io.stele.yarn;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * The configuration that travels to the containers: all that differs from Hadoop's defaults, with
 * variables resolved where it was started.
 *
 * <p>It has a file name of its own and is added to a {@link Configuration} as a resource, so that
 * it overrides the configuration of the nodes. (Named core-site.xml it would be overridden by
 * yarn-default.xml and hdfs-default.xml, which are loaded later.)
 */
final class ShippedConfiguration {
  private ShippedConfiguration() {}

  /** The part of {@code conf} that the containers need. */
  static Configuration of(Configuration conf) {
    Map<String, String> names = new TreeMap<>();
    for (Map.Entry<String, String> entry : conf) {
      names.put(entry.getKey(), entry.getValue());
    }
    Configuration shipped = new Configuration(false);
    for (String name : names.keySet()) {
      String value = conf.get(name);
      if (value != null && !isDefault(conf, name) && !isOfThisProcess(name, value)) {
        shipped.set(name, value);
      }
    }
    if (conf.getBoolean(YarnConfiguration.IS_MINI_YARN_CLUSTER, false)) {
      // A cluster within this process has no installation of Hadoop: its class path is ours.
      shipped.set(
          YarnConfiguration.YARN_APPLICATION_CLASSPATH,
          String.join(",", System.getProperty("java.class.path").split(File.pathSeparator, -1)));
      shipped.setBoolean(YarnConfiguration.IS_MINI_YARN_CLUSTER, false);
    }
    return shipped;
  }

  /** What its file's name is made of: all names and values. */
  static String hash(Configuration shipped) {
    Map<String, String> values = new TreeMap<>();
    for (Map.Entry<String, String> entry : shipped) {
      values.put(entry.getKey(), entry.getValue());
    }
    ContentHash hash = new ContentHash();
    values.forEach((name, value) -> hash.add(name).add(value));
    return hash.digits();
  }

  /**
   * Puts it where the containers fetch it; only the owner may read it, as it may hold secrets.
   *
   * @param target with {@link #hash} in its name
   */
  static void upload(Configuration shipped, FileSystem fs, Path target) throws IOException {
    ContentFile.put(
        fs, target, FsPermission.createImmutable((short) 0600), out -> shipped.writeXml(out));
  }

  private static boolean isDefault(Configuration conf, String name) {
    String[] sources = conf.getPropertySources(name);
    return sources != null
        && sources.length > 0
        && sources[sources.length - 1].endsWith("-default.xml");
  }

  /** An embedded HDFS maps racks by a table in its own process, which no other process has. */
  private static boolean isOfThisProcess(String name, String value) {
    return name.equals(CommonConfigurationKeysPublic.NET_TOPOLOGY_NODE_SWITCH_MAPPING_IMPL_KEY)
        && value.endsWith(".StaticMapping");
  }
}
