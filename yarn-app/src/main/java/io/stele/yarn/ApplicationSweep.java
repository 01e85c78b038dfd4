package io.stele.yarn;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what earlier applications have left: the configurations of those that have ended, and
 * archives of jars that no application can name any more. An application names its files as long as
 * it lives, those of its submission and of each upgrade since, so nothing of one that may be alive
 * is touched, and no archive while there is one.
 *
 * <p>For use by one thread.
 */
final class ApplicationSweep {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationSweep.class);

  /**
   * What is younger may be of an application that another YARN has just been given, or is about to
   * be.
   */
  private static final Duration YOUNG = Duration.ofDays(1);

  private final FileSystem fs;
  private final ApplicationLayout layout;
  private final InstantSource clock;

  ApplicationSweep(FileSystem fs, ApplicationLayout layout, InstantSource clock) {
    this.fs = fs;
    this.layout = layout;
    this.clock = clock;
  }

  /**
   * Sweeps once.
   *
   * @param own the application whose files are kept
   * @param deployment what it was submitted with
   * @param applications what has become of the others
   */
  void sweep(String own, Deployment deployment, ClusterClaim.Applications applications)
      throws IOException {
    boolean othersMayLive = false;
    for (FileStatus entry : list(layout.apps())) {
      String name = entry.getPath().getName();
      if (!entry.isDirectory() || !isApplication(name) || name.equals(own)) {
        continue;
      }
      boolean ended =
          switch (applications.fateOf(name)) {
            case ALIVE -> false;
            case ENDED -> true;
            case UNKNOWN -> isOld(entry);
          };
      if (ended) {
        delete(entry);
      } else {
        othersMayLive = true;
      }
    }
    if (othersMayLive) {
      return;
    }
    for (FileStatus archive : list(layout.archives())) {
      boolean isNamed = archive.getPath().getName().equals(deployment.archive().getName());
      if (!isNamed && isOld(archive)) {
        delete(archive);
      }
    }
  }

  private List<FileStatus> list(Path directory) throws IOException {
    try {
      return List.of(fs.listStatus(directory));
    } catch (FileNotFoundException e) {
      return List.of();
    }
  }

  private static boolean isApplication(String name) {
    try {
      ApplicationId.fromString(name);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private boolean isOld(FileStatus file) {
    Instant changed = Instant.ofEpochMilli(file.getModificationTime());
    return changed.plus(YOUNG).isBefore(clock.instant());
  }

  private void delete(FileStatus file) throws IOException {
    LOG.info("Deleting {}: no application uses it any more", file.getPath());
    fs.delete(file.getPath(), true);
  }
}
