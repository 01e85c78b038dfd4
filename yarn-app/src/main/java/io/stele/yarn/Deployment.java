package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.wire.application.ApplicationProtos.DeploymentProto;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * What containers are started with: a version of Stele and its settings, as files that YARN brings
 * to the nodes. Their names tell their content, so two deployments are equal if nothing would
 * change. Immutable.
 *
 * @param archive our jars on the file system
 * @param configuration the configuration on the file system
 */
record Deployment(Path archive, Path configuration) {
  /**
   * Puts the files where containers fetch them, unless they are there.
   *
   * @param shipped see {@link ShippedConfiguration#of}
   * @param progress gets a line of text that says what was uploaded
   * @throws SteleException REFUSED if there is no jar or two have one name
   */
  static Deployment upload(
      List<java.nio.file.Path> jars,
      Configuration shipped,
      ApplicationLayout layout,
      String applicationId,
      Consumer<String> progress)
      throws IOException {
    FileSystem fs = layout.root().getFileSystem(shipped);
    JarArchive archived = new JarArchive(jars);
    Path archive = layout.archive(archived.hash());
    boolean uploaded = archived.upload(fs, archive);
    progress.accept((uploaded ? "uploaded " : "jars are already uploaded: ") + archive);
    Path configuration = layout.conf(applicationId, ShippedConfiguration.hash(shipped));
    ShippedConfiguration.upload(shipped, fs, configuration);
    return new Deployment(archive, configuration);
  }

  /** The configuration as a process that is started with it has it. */
  Configuration read() throws IOException {
    Configuration read = new YarnConfiguration();
    try (InputStream in = configuration.getFileSystem(read).open(configuration)) {
      read.addResource(in, configuration.getName());
      read.size(); // Reads it now.
    }
    return read;
  }

  static Deployment of(DeploymentProto proto) {
    return new Deployment(new Path(proto.getArchive()), new Path(proto.getConfiguration()));
  }

  /** Its files, for people. */
  String files() {
    return archive + " " + configuration;
  }

  DeploymentProto toProto() {
    return DeploymentProto.newBuilder()
        .setArchive(archive.toString())
        .setConfiguration(configuration.toString())
        .build();
  }
}
