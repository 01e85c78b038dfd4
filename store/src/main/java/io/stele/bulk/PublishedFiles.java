package io.stele.bulk;

import io.stele.client.Jobs;
import io.stele.files.DurableFiles;
import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.record.FileRef;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which files of its attempts a job commits: those of one attempt of each task. An attempt lists
 * its files; to publish them, the list gets the name of the task, and the first one wins. When the
 * job commits, the lists of all tasks are fixed as one.
 *
 * <p>Safe for use by any number of threads and processes.
 */
final class PublishedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedFiles.class);
  private static final String ATTEMPT = ".attempt";
  private static final String TASK = ".task";
  private static final String CLOSING = "closing";
  private static final String ALL = "job";

  private final Jobs jobs;
  private final String job;
  private final OutputDirectory directory;

  PublishedFiles(Jobs jobs, String job, OutputDirectory directory) {
    this.jobs = jobs;
    this.job = job;
    this.directory = directory;
  }

  /** Lists what an attempt has finished. */
  void list(String attempt, Map<TableId, List<FileRef>> files) throws IOException {
    directory.write(attempt + ATTEMPT, FileList.encode(files));
  }

  /** Whether an attempt has finished files that are not published. */
  boolean isFinished(String attempt) throws IOException {
    directory.catchUp(); // They may have been written over another connection.
    return directory.has(attempt + ATTEMPT);
  }

  /**
   * Makes the files of an attempt those of its task, unless another attempt's are already.
   *
   * @throws SteleException REFUSED if the job commits without them
   */
  void publish(String attempt, String task) throws IOException {
    directory.rename(attempt + ATTEMPT, task + TASK);
    directory.catchUp();
    if (directory.has(CLOSING) && !isListed(task + TASK)) {
      throw SteleException.refused(
          "job "
              + job
              + " commits without what "
              + task
              + " has written: the task had failed when an ApplicationMaster began to commit the"
              + " job, as mapreduce.map.failures.maxpercent or mapreduce.reduce.failures.maxpercent"
              + " allows, and another one has run the task again. It stays failed. Set both to 0"
              + " if the job needs all of its tasks");
    }
  }

  /** Whether the job commits all that a task has published. */
  private boolean isListed(String task) throws IOException {
    Map<TableId, List<FileRef>> all = freeze();
    for (Map.Entry<TableId, List<FileRef>> table : read(task).entrySet()) {
      List<FileRef> listed = all.getOrDefault(table.getKey(), List.of());
      if (!new HashSet<>(listed).containsAll(table.getValue())) {
        return false;
      }
    }
    return true;
  }

  /**
   * Deletes what an attempt has finished, if it is not published: first the list, as whoever
   * publishes renames it. So files are deleted only if nobody can publish them any more. If this
   * ends in between, they go with the job's directory.
   */
  void discard(String attempt) throws IOException {
    String list = attempt + ATTEMPT;
    FileSystem fs = directory.fs();
    if (directory.has(list)) {
      try {
        Map<TableId, List<FileRef>> files = read(list);
        if (new DurableFiles(fs).deleteUnlessRenamed(directory.path(list))) {
          for (FileRef file : files.values().stream().flatMap(List::stream).toList()) {
            fs.delete(new Path(directory.root(), file.path()), false);
          }
        }
      } catch (FileNotFoundException e) {
        LOG.debug("What attempt {} has finished is published, or discarded before", attempt, e);
      } catch (AccessControlException e) {
        if (jobs.state(job) == JobNodes.State.BEGUN) {
          throw e;
        } // The directory is the store's alone now, which deletes what it does not need.
      }
    }
  }

  private Map<TableId, List<FileRef>> read(String list) throws IOException {
    return FileList.decode(job, directory.read(list), directory.path(list).toString());
  }

  /**
   * Fixes which files the job commits, if nobody has yet, and returns them: no task can publish
   * more.
   */
  Map<TableId, List<FileRef>> freeze() throws IOException {
    directory.catchUp(); // Other processes have published the tasks.
    if (!directory.has(ALL)) {
      try {
        markClosing();
        Map<TableId, List<FileRef>> files = new TreeMap<>();
        for (FileStatus file : tasks()) {
          read(file.getPath().getName())
              .forEach(
                  (id, more) -> files.computeIfAbsent(id, t -> new ArrayList<>()).addAll(more));
        }
        directory.writeOnce(ALL, FileList.encode(files));
      } catch (AccessControlException e) {
        if (!directory.has(ALL)) {
          throw e;
        } // Somebody else has just committed the job: nobody writes here any more.
      }
    }
    return read(ALL);
  }

  /** From here on a task that publishes looks whether it is listed: the lists are read after. */
  private void markClosing() throws IOException {
    Path closing = directory.path(CLOSING);
    // By several at once, without harm: a file would have one writer.
    if (!directory.fs().mkdirs(closing)) {
      throw new IOException("cannot create the directory " + closing);
    }
  }

  private FileStatus[] tasks() throws IOException {
    try {
      return directory.fs().listStatus(directory.path(), path -> path.getName().endsWith(TASK));
    } catch (FileNotFoundException e) {
      return new FileStatus[0]; // No task has written anything.
    }
  }
}
