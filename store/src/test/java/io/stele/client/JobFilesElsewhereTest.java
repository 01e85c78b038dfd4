package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.Keys;
import io.stele.model.SteleException;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A job that reads or writes files must find those of the cluster. */
@Timeout(120)
final class JobFilesElsewhereTest {
  @TempDir private Path directory;

  /** A client whose files are where its configuration says: on this machine's disk. */
  private static void require(MiniStele cluster, Configuration conf) throws IOException {
    try (Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
        Stele stele = Stele.over(conf, SystemRuntime.INSTANCE, cluster.locks(), transport)) {
      stele.jobs().environment().requireFiles();
    }
  }

  private static JobEnvironment.Submission submission(MiniStele cluster, Configuration conf)
      throws IOException {
    try (Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
        Stele stele = Stele.over(conf, SystemRuntime.INSTANCE, cluster.locks(), transport)) {
      return stele.jobs().environment().submission();
    }
  }

  @Test
  void aClientWithoutTheClustersFileSystemIsToldWhereTheFilesAre() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1)) {
      JobEnvironment right = cluster.client().jobs().environment();
      assertThatCode(right::requireFiles).doesNotThrowAnyException();
      assertThat(right.submission().timeMicros()).isPositive();
      assertThat(right.submission().valueBytesMax()).isPositive();

      Configuration wrong = new Configuration(conf);
      Path root = directory.resolve("stele");
      wrong.set(Keys.ROOT_DIR.name(), root.toUri().toString());
      assertRefused(cluster, wrong, root, right);
      Files.createDirectory(root);
      Files.writeString(root.resolve("VERSION"), "layout 1\ncluster another\n");
      assertRefused(cluster, wrong, root, right);
    }
  }

  private static void assertRefused(
      MiniStele cluster, Configuration wrong, Path root, JobEnvironment right) throws IOException {
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> require(cluster, wrong), () -> submission(cluster, wrong))) {
      assertThatThrownBy(call)
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining("files in file:" + root)
          .hasMessageContaining("they are in " + right.root())
          .hasMessageContaining("core-site.xml")
          .hasMessageContaining("fs.defaultFS");
    }
  }
}
