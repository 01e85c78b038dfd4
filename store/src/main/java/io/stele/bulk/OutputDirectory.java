package io.stele.bulk;

import io.stele.client.JobEnvironment;
import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.files.NameSpace;
import io.stele.record.PendingFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The directory of a job's output, and how what is said in it is written: each file once, by the
 * first of several processes. Safe for use by any number of threads.
 */
final class OutputDirectory {
  private final JobEnvironment environment;
  private final FileSystem fs;
  private final Path root;
  private final Path path;

  /** The directory of {@code job} in {@code fs}. */
  OutputDirectory(JobEnvironment environment, String job, FileSystem fs) throws IOException {
    this.environment = environment;
    this.fs = fs;
    this.root = environment.root();
    this.path = new Path(root, PendingFile.directory(job));
  }

  FileSystem fs() {
    return fs;
  }

  /** The cluster's root directory, to which the paths of tables' files are relative. */
  Path root() {
    return root;
  }

  Path path() {
    return path;
  }

  Path path(String name) {
    return new Path(path, name);
  }

  /** Makes all later answers reflect what other processes have done until now. */
  void catchUp() throws IOException {
    NameSpace.catchUp(fs, path);
  }

  boolean has(String name) throws IOException {
    return fs.exists(path(name));
  }

  /**
   * What a file has in it.
   *
   * @throws FileNotFoundException if there is none of that name
   */
  byte[] read(String name) throws IOException {
    try (var in = fs.open(path(name))) {
      return in.readAllBytes();
    }
  }

  /** Writes a file, which is on disk when this returns. */
  void write(String name, byte[] bytes) throws IOException {
    try (DurableFile out = new DurableFiles(fs).createBelow(path(name))) {
      out.write(bytes);
      out.hsync();
      out.checkReplicas(replicasMin());
    }
  }

  /** Like {@link #write}, but the first file of that name stays, and is never seen in part. */
  void writeOnce(String name, byte[] bytes) throws IOException {
    String aside = name + "-" + environment.unique();
    write(aside, bytes);
    rename(aside, name);
  }

  /** The replicas that a write needs too: what a job commits is as durable as what is written. */
  int replicasMin() {
    return environment.replicasMin();
  }

  /**
   * Renames a file, unless there is one of the new name already.
   *
   * @throws IOException if there is none of the new name after this
   */
  void rename(String from, String to) throws IOException {
    if (!isRenamed(path(from), path(to))) {
      throw new IOException("cannot rename " + path(from) + " to " + path(to));
    }
  }

  private boolean isRenamed(Path from, Path to) throws IOException {
    try {
      return new DurableFiles(fs).renameToNew(from, to) || fs.exists(to);
    } catch (FileAlreadyExistsException | FileNotFoundException e) {
      if (fs.exists(to)) { // Done before, and its answer was lost; or by another.
        return true;
      }
      throw e;
    }
  }
}
