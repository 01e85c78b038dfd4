package io.stele.check;

import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.LockServiceCopy;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecordReader;
import io.stele.metadata.TabletRecords;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.SSTable;
import io.stele.sstable.SSTableDump;
import io.stele.sstable.SSTableProperties;
import io.stele.wire.Transport;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Checks a running cluster. It looks twice, as tablets move, split and are compacted meanwhile: a
 * problem counts only if it was there both times.
 *
 * <p>For one thread.
 */
public final class ClusterCheck implements AutoCloseable {
  private static final Duration TIMEOUT_MAX = Duration.ofSeconds(15);

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final LockService locks;
  private final Layout layout;
  private final TabletAccess access;
  private final ServedTablets served;
  private final TabletRecordReader records;

  /**
   * A check of the cluster that {@code conf} names.
   *
   * @param fs where its root directory is; stays open
   * @param locks its lock service; stays open
   * @param transport stays open
   * @throws io.stele.model.SteleException NOT_FOUND if its root directory is none
   */
  public ClusterCheck(
      Configuration conf,
      ProcessRuntime runtime,
      FileSystem fs,
      LockService locks,
      Transport transport)
      throws IOException {
    this.runtime = runtime;
    this.locks = locks;
    this.fs = fs;
    this.layout = Layout.open(fs, new Path(Keys.ROOT_DIR.in(conf)));
    this.access = new TabletAccess(runtime, locks, transport.dataPlane(), Keys.LEASE.in(conf));
    this.records = new TabletRecords(runtime, locks, access, timeout(conf)).reader();
    this.served = new ServedTablets(runtime, locks, transport.controlPlane());
  }

  private static Duration timeout(Configuration conf) {
    Duration ofClients = Keys.CLIENT_TIMEOUT.in(conf);
    return Durations.min(ofClients, TIMEOUT_MAX);
  }

  /**
   * Checks the cluster.
   *
   * @param between how long after the first pass the second begins, if the first finds something:
   *     longer than a tablet is away when it moves or its server dies
   * @param verify whether to read all SSTables and check their contents
   * @throws IOException if the lock service or the files cannot be reached
   */
  public CheckReport check(Duration between, boolean verify) throws IOException {
    CheckPass pass = pass();
    Set<Problem> problems = new TreeSet<>(pass.problems());
    if (!problems.isEmpty()) {
      pause(between);
      pass = pass();
      Set<Problem> before = Set.copyOf(problems);
      problems.clear();
      pass.problems().stream()
          .filter(problem -> before.stream().anyMatch(problem::isStill))
          .forEach(problems::add);
    }
    if (verify) {
      verify(pass, problems);
    }
    return pass.report(verify, new ArrayList<>(problems));
  }

  private CheckPass pass() throws IOException {
    CheckPass pass = new CheckPass(fs, layout);
    pass.readTables(new Schemas(runtime, locks).list());
    pass.readServers(served.read());
    pass.readRecords(records);
    pass.checkJobs(new JobNodes(runtime, locks));
    pass.checkCopy(new LockServiceCopy(runtime, fs, layout, locks), records);
    pass.checkFiles();
    return pass;
  }

  private void pause(Duration time) throws IOException {
    try {
      runtime.sleep(time);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting to check a second time");
    }
  }

  /** One file that cannot be read must not hide what is wrong with the others. */
  private void verify(CheckPass pass, Set<Problem> problems) throws IOException {
    List<String> missing = new ArrayList<>();
    Map<String, Problem> unread = new TreeMap<>();
    for (FileRef named : pass.named().values()) {
      String path = named.path();
      try {
        problems.addAll(verify(named));
      } catch (FileNotFoundException e) {
        missing.add(path); // It was compacted meanwhile, or was found missing before.
      } catch (SteleException e) {
        unread.put(path, CheckPass.unchecked(path, e));
      } catch (IOException e) {
        if (Futures.isInterruption(e)) {
          throw e;
        }
        unread.put(path, CheckPass.unreadable(path, e)); // It may have been deleted meanwhile, too.
      }
    }
    if (!missing.isEmpty() || !unread.isEmpty()) {
      CheckPass again = pass();
      missing.retainAll(again.named().keySet());
      unread.keySet().retainAll(again.named().keySet());
      problems.addAll(unread.values());
      problems.addAll(
          again.problems().stream()
              .filter(problem -> missing.stream().anyMatch(problem.subject()::endsWith))
              .toList());
    }
  }

  /** What is wrong with a file: within it, or else with its place. */
  private List<Problem> verify(FileRef file) throws IOException {
    Path path = layout.resolve(file.path());
    List<Problem> found = new ArrayList<>();
    for (SSTableDump.Problem damage : SSTableDump.verify(fs, path)) {
      found.add(
          CheckPass.damaged(file.path(), "offset " + damage.offset() + ": " + damage.detail()));
    }
    if (found.isEmpty()) {
      long length = fs.getFileStatus(path).getLen();
      try (SSTable table = SSTable.open(fs, path, length, NoBlockCache.INSTANCE)) {
        SSTableProperties told = table.properties();
        file.checkSequences(told.cells(), told.minSequence(), told.maxSequence());
      } catch (CorruptionException e) {
        found.add(CheckPass.damaged(file.path(), "offset " + e.offset() + ": " + e.detail()));
      }
    }
    return found;
  }

  @Override
  public void close() {
    access.close();
  }
}
