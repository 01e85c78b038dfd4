package io.stele.yarn;

import org.apache.hadoop.fs.Path;

/**
 * Where the YARN application keeps its files, below the cluster's root:
 *
 * <pre>
 * apps/lib/stele-&lt;hash&gt;.zip                  our jars; the hash tells the content
 * apps/&lt;applicationId&gt;/stele-cluster-&lt;hash&gt;.xml  a configuration of an application's containers
 * apps/&lt;name&gt;.state.&lt;attemptId&gt;               the state that one ApplicationMaster leaves for the next
 * </pre>
 *
 * @param root the root, absolute
 */
record ApplicationLayout(Path root) {
  /** The configuration's name in each container's directory. */
  static final String CONF_FILE = "stele-cluster.xml";

  /** The archive's name in each container's directory. */
  static final String LIB = "lib";

  Path apps() {
    return new Path(root, "apps");
  }

  Path archives() {
    return new Path(apps(), "lib");
  }

  Path archive(String hash) {
    return new Path(archives(), "stele-" + hash + ".zip");
  }

  Path applicationDirectory(String applicationId) {
    return new Path(apps(), applicationId);
  }

  Path conf(String applicationId, String hash) {
    return new Path(applicationDirectory(applicationId), "stele-cluster-" + hash + ".xml");
  }

  Path state(String applicationName) {
    return new Path(apps(), applicationName + ".state");
  }
}
