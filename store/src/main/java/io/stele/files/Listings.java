package io.stele.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lists directories that need not exist. */
public final class Listings {
  private static final Logger LOG = LoggerFactory.getLogger(Listings.class);

  private Listings() {}

  /** The contents of a directory; empty if it does not exist. */
  public static List<FileStatus> of(FileSystem fs, Path directory) throws IOException {
    try {
      return List.of(fs.listStatus(directory));
    } catch (FileNotFoundException e) {
      LOG.debug("{} does not exist", directory, e);
      return List.of();
    }
  }
}
