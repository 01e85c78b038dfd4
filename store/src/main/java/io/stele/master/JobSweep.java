package io.stele.master;

import io.stele.files.Listings;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredJob;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import io.stele.record.PendingFile;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forgets jobs that have committed and about which nobody asks any more, and deletes unneeded files
 * of jobs.
 *
 * <p>The node of a committed job is removed when no record names files that wait for it. None will
 * again, because files are registered only for jobs that have not committed. A tablet never takes a
 * registered file of a job without a node, so only those of its files stay that a record names.
 * Files are listed first, then nodes are read, then records: a deleted file belonged to no tablet
 * when its job no longer had a node.
 *
 * <p>One thread at a time.
 */
final class JobSweep {
  private static final Logger LOG = LoggerFactory.getLogger(JobSweep.class);

  private final TabletRecordReader records;
  private final Schemas schemas;
  private final FileSystem fs;
  private final Layout layout;
  private final JobNodes jobs;
  private final JobLeases leases;

  JobSweep(
      TabletRecordReader records,
      Schemas schemas,
      FileSystem fs,
      Layout layout,
      JobNodes jobs,
      JobLeases leases) {
    this.records = records;
    this.schemas = schemas;
    this.fs = fs;
    this.layout = layout;
    this.jobs = jobs;
    this.leases = leases;
  }

  /**
   * Sweeps once.
   *
   * @return how many files it deleted
   */
  int sweep() throws IOException {
    Map<String, List<FileStatus>> files = new TreeMap<>(); // Of jobs without node.
    for (FileStatus directory : Listings.of(fs, layout.bulk())) {
      String job = directory.getPath().getName();
      try {
        List<FileStatus> ofJob = Listings.of(fs, directory.getPath());
        if (isGone(job)) {
          files.put(job, ofJob);
        }
      } catch (AccessControlException e) {
        Deletions.notListed(directory.getPath(), e);
      }
    }
    Map<String, StoredJob> committed = leases.forgettable();
    if (files.isEmpty() && committed.isEmpty()) {
      return 0;
    }
    Optional<Mark> mark = Mark.read(records, schemas);
    if (mark.isEmpty() || mark.get().hasOthers()) {
      return 0;
    }
    Set<String> awaited = mark.get().awaitedJobs();
    for (Map.Entry<String, StoredJob> one : committed.entrySet()) {
      if (!awaited.contains(one.getKey())) {
        forget(one.getKey(), one.getValue());
      }
    }
    Deletions deletions = new Deletions(fs);
    int deleted = 0;
    Set<String> needed = mark.get().neededFiles();
    needed.addAll(
        mark.get().droppedFiles()); // They may still be read: the Sweeper's, after a time.
    for (Map.Entry<String, List<FileStatus>> one : files.entrySet()) {
      deleted += sweep(one.getKey(), one.getValue(), needed, deletions);
    }
    deletions.end();
    return deleted;
  }

  private void forget(String job, StoredJob seen) throws IOException {
    try {
      if (jobs.remove(job, seen)) {
        LOG.info("Job {} is forgotten: it has committed, and its lease is over", job);
      }
    } catch (NewerFormatException e) {
      LOG.warn("Job {} stays, as this version may not change its node", job, e);
    }
  }

  private boolean isGone(String job) throws IOException {
    try {
      return jobs.stateOfOther(job) == JobNodes.State.GONE;
    } catch (SteleException e) {
      LOG.warn("{} is not the directory of a job", layout.bulk().suffix("/" + job), e);
      return false;
    }
  }

  private int sweep(String job, List<FileStatus> files, Set<String> needed, Deletions deletions)
      throws IOException {
    Path directory = layout.resolve(PendingFile.directory(job));
    String prefix = PendingFile.directory(job) + "/";
    if (needed.stream().noneMatch(path -> path.startsWith(prefix))) {
      if (deletions.delete(directory) == Deletions.Result.FAILED) {
        return 0;
      }
      LOG.info("Deleted {} with {} files: its job is over", directory, files.size());
      return files.size();
    }
    int deleted = 0;
    for (FileStatus file : files) {
      if (!needed.contains(prefix + file.getPath().getName())
          && deletions.delete(file.getPath()) == Deletions.Result.DELETED) {
        LOG.info("Deleted {}, which no tablet needs", file.getPath());
        deleted++;
      }
    }
    return deleted;
  }
}
