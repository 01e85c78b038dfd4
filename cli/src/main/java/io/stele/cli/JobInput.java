package io.stele.cli;

import io.stele.model.SteleException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Files that a job reads. */
final class JobInput {
  private JobInput() {}

  /**
   * Checks that there are files, where it can say more than the job would: a path without a scheme
   * is one of the cluster's file system, and not of this machine.
   *
   * @param files a file, a directory or a glob
   * @throws SteleException NOT_FOUND if the files are only on this machine
   */
  static void require(Path files, Configuration conf) throws IOException {
    FileSystem cluster = files.getFileSystem(conf);
    FileSystem local = FileSystem.getLocal(conf);
    if (files.toUri().getScheme() != null
        || cluster.getUri().equals(local.getUri())
        || isThere(cluster, files)
        || !isThere(local, files)) {
      return;
    }
    throw SteleException.notFound(
        "there is no "
            + cluster.makeQualified(files)
            + ", but "
            + files
            + " is on this machine. Copy it with `hdfs dfs -put "
            + files
            + " DIR` and give that path. Or give "
            + local.makeQualified(files)
            + ", if whatever runs the tasks finds the files there: each node of the cluster, or"
            + " this machine alone with the demo or the local runner");
  }

  private static boolean isThere(FileSystem fs, Path files) throws IOException {
    FileStatus[] found = fs.globStatus(files);
    return found != null && found.length > 0;
  }
}
