package io.stele.log;

import io.stele.files.Listings;
import io.stele.model.ServerId;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists the log directories of tablet servers, each of which has its server's id as its name:
 * {@code logs} has those of servers that are not fenced, {@code recovery} those of fenced ones.
 */
public final class LogDirectories {
  private static final Logger LOG = LoggerFactory.getLogger(LogDirectories.class);

  /** How the name of a directory begins that is not yet a log. */
  private static final String DRAFT_PREFIX = ".draft.";

  private LogDirectories() {}

  /**
   * The log directories in {@code parent}, by server; empty if {@code parent} does not exist.
   * Anything else in it is skipped: drafts without a word, the rest with a warning.
   */
  public static Map<ServerId, Path> in(FileSystem fs, Path parent) throws IOException {
    Map<ServerId, Path> logs = new TreeMap<>();
    for (FileStatus entry : Listings.of(fs, parent)) {
      Path path = entry.getPath();
      if (path.getName().startsWith(DRAFT_PREFIX)) {
        continue;
      }
      try {
        ServerId server = ServerId.parse(path.getName());
        if (entry.isDirectory()) {
          logs.put(server, path);
        }
      } catch (IllegalArgumentException e) {
        LOG.warn("{} is not the log directory of a tablet server", path, e);
      }
    }
    return logs;
  }

  /** A directory in {@code parent} that is not taken for a log until it is renamed. */
  static Path draft(Path parent, long number) {
    return new Path(parent, DRAFT_PREFIX + Long.toHexString(number));
  }
}
