package io.stele.yarn;

import org.apache.hadoop.fs.Path;

/**
 * Where the YARN application keeps its files, below the cluster's root:
 *
 * <pre>
 * apps/lib/stele-&lt;hash&gt;.zip            our jars; the name tells the content
 * apps/&lt;applicationId&gt;/stele-cluster.xml  the configuration an application was started with
 * apps/&lt;name&gt;.state.&lt;attemptId&gt;         the state that one ApplicationMaster leaves for the next
 * </pre>
 *
 * @param root the root, absolute
 */
record Layout(Path root) {
  /** Under this name the configuration lies in each container's directory, too. */
  static final String CONF_FILE = "stele-cluster.xml";

  /** The archive's name in each container's directory. */
  static final String LIB = "lib";

  private Path apps() {
    return new Path(root, "apps");
  }

  Path archive(String hash) {
    return new Path(new Path(apps(), "lib"), "stele-" + hash + ".zip");
  }

  Path applicationDirectory(String applicationId) {
    return new Path(apps(), applicationId);
  }

  Path conf(String applicationId) {
    return new Path(applicationDirectory(applicationId), CONF_FILE);
  }

  Path state(String applicationName) {
    return new Path(apps(), applicationName + ".state");
  }
}
