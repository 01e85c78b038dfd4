package io.stele.master;

import io.stele.files.AccessLists;
import io.stele.files.DurableFiles;
import io.stele.files.Listings;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.model.Principal;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.PendingFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directories in which jobs write files for tables. They belong to the store, so that it can
 * read and delete whatever is in them, whoever wrote it. The user who runs the job may write there
 * until the job has committed: then the files are the tables'.
 *
 * <p>A directory has one list of readers for all files in it: those who may read every table that
 * the job writes. Where the file system keeps no access control lists, a job makes its directory
 * itself.
 *
 * <p>Safe for use by any number of threads. Requests wait for the NameNode, so only few of them are
 * served at a time; the others must be repeated.
 */
final class JobDirectories {
  private static final Logger LOG = LoggerFactory.getLogger(JobDirectories.class);
  private static final int AT_ONCE = 4;

  private final FileSystem fs;
  private final Layout layout;
  private final Schemas schemas;
  private final JobNodes jobs;
  private final AccessLists lists;
  private final AtomicInteger requests = new AtomicInteger();
  private final Set<String> ended = ConcurrentHashMap.newKeySet(); // Nobody writes there any more.

  JobDirectories(FileSystem fs, Layout layout, Schemas schemas, JobNodes jobs) {
    this.fs = fs;
    this.layout = layout;
    this.schemas = schemas;
    this.jobs = jobs;
    this.lists = new AccessLists(fs);
  }

  /**
   * Makes the directory of a job. Repeating it changes nothing.
   *
   * @param tables that the job writes
   * @param user who runs the job; empty if it is the user of the store
   * @throws SteleException NOT_FOUND if the job is over, or a table is gone; REFUSED if another
   *     user runs the job
   */
  void make(String job, List<TableId> tables, Optional<String> user) throws IOException {
    requireBegun(job);
    beginRequest();
    try {
      if (lists.areKept(layout.root())) {
        makeFor(job, tables, user);
      }
    } finally {
      requests.decrementAndGet();
    }
  }

  private void beginRequest() {
    if (requests.incrementAndGet() > AT_ONCE) {
      requests.decrementAndGet();
      throw SteleException.retryLater("the master is asking HDFS about other jobs");
    }
  }

  private void makeFor(String job, List<TableId> tables, Optional<String> user) throws IOException {
    List<TableSchema> written = new ArrayList<>();
    for (TableId table : tables) {
      written.add(
          schemas
              .table(table)
              .orElseThrow(() -> SteleException.notFound("table " + table + " was dropped"))
              .schema());
    }
    Path directory = directory(job);
    new DurableFiles(fs).mkdirs(directory);
    String writer = user.orElse(fs.getFileStatus(directory).getOwner());
    Optional<String> before = lists.writer(directory);
    if (before.isPresent() && !before.get().equals(writer)) {
      throw SteleException.refused(
          "job " + job + " is that of user " + before.get() + ", not of " + writer);
    }
    boolean isUsual = written.stream().allMatch(schema -> schema.readers().isEmpty());
    lists.letWrite(directory, writer, commonReaders(written), isUsual);
    if (jobs.state(job) == JobNodes.State.COMMITTED) { // This request came late.
      lists.endWriting(directory);
    }
  }

  /**
   * Whether a job has a directory, and so may have files that wait for its commit.
   *
   * @throws SteleException RETRY_LATER if too many ask something like this at this moment
   */
  boolean has(String job) throws IOException {
    beginRequest();
    try {
      return fs.exists(directory(job));
    } finally {
      requests.decrementAndGet();
    }
  }

  private static List<Principal> commonReaders(List<TableSchema> schemas) {
    List<Principal> common =
        new ArrayList<>(schemas.isEmpty() ? List.of() : schemas.get(0).readers());
    schemas.forEach(schema -> common.retainAll(schema.readers()));
    return common;
  }

  private void requireBegun(String job) throws IOException {
    if (jobs.state(job) != JobNodes.State.BEGUN) {
      throw jobs.whyOver(job);
    }
  }

  private Path directory(String job) {
    return layout.resolve(PendingFile.directory(job));
  }

  /**
   * Lets nobody write in the directory of a job that has committed. If that cannot be done now,
   * {@link #endWriting()} does it later.
   */
  void endWriting(String job) {
    try {
      if (requests.incrementAndGet() <= AT_ONCE && lists.areKept(layout.root())) {
        lists.endWriting(directory(job));
      }
    } catch (FileNotFoundException e) {
      LOG.debug("Job {} has no directory", job, e);
    } catch (IOException e) {
      LOG.info("The files of job {} can still be changed; will retry: {}", job, e.toString());
    } finally {
      requests.decrementAndGet();
    }
  }

  /** The same for all jobs that have committed, whichever master was told. */
  void endWriting() throws IOException {
    if (!lists.areKept(layout.root())) {
      return;
    }
    Set<String> there = new HashSet<>();
    for (FileStatus directory : Listings.of(fs, layout.bulk())) {
      String job = directory.getPath().getName();
      there.add(job);
      if (!ended.contains(job) && hasCommitted(job)) {
        try {
          lists.endWriting(directory.getPath());
          ended.add(job);
        } catch (FileNotFoundException e) {
          LOG.debug("{} was deleted meanwhile", directory.getPath(), e);
        } catch (IOException e) { // Others, and the sweep, must not wait for this one.
          LOG.info("Files in {} can still be changed: {}", directory.getPath(), e.toString());
        }
      }
    }
    ended.retainAll(there);
  }

  private boolean hasCommitted(String job) throws IOException {
    try {
      return jobs.stateOfOther(job) == JobNodes.State.COMMITTED;
    } catch (SteleException e) {
      LOG.debug("{} is not the directory of a job", directory(job), e);
      return false;
    }
  }
}
