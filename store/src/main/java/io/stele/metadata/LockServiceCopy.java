package io.stele.metadata;

import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.avro.LockNodeValue;
import io.stele.metadata.avro.LockNodesValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The copy that the root directory has of what the lock service keeps: the nodes without which the
 * files cannot be served. It is never read in normal operation. {@link LockServiceRestore} puts it
 * into a lock service that has lost its data, and by it a lock service that was put back to an
 * earlier state is recognized.
 *
 * <pre>
 * lock-service/root-&lt;epoch&gt;-&lt;n&gt;   the root tablet's record
 * lock-service/nodes-&lt;n&gt;          all other nodes that stay: schemas, names, jobs, ...
 * </pre>
 *
 * A file is written once, under the next number, and the two newest of each kind stay. The files of
 * the root tablet's record are written by the server that serves it: before it serves the tablet,
 * and after each change of the record, before files or logs that it names no more are deleted.
 * <b>So no epoch is served of which there is no file.</b> The others are written by the active
 * master, now and then.
 *
 * <p>One thread at a time may copy through one object; any number of processes may.
 */
public final class LockServiceCopy {
  /** Of a copy of the root tablet's record, before its epoch. */
  private static final String ROOT = "root-";

  /** Of a copy of the other nodes, before its number. */
  private static final String NODES = "nodes-";

  /** The nodes that are copied, but for the root tablet's record. */
  static final List<String> SINGLE =
      List.of(
          LockPaths.REGISTRATION,
          LockPaths.FORGOTTEN_CHANGES,
          LockPaths.TABLE_IDS,
          LockPaths.BALANCE);

  /** The nodes whose children are copied. */
  static final List<String> PARENTS = List.of(LockPaths.NAMES, LockPaths.TABLES, LockPaths.JOBS);

  private static final int KEPT = 2;
  private static final int ATTEMPTS_MAX = 5;

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final Layout layout;
  private final LockService locks;
  private Map<String, Bytes> lastCopied = Map.of();

  /** The copy of {@code locks} in the cluster's root directory. */
  public LockServiceCopy(ProcessRuntime runtime, FileSystem fs, Layout layout, LockService locks) {
    this.runtime = runtime;
    this.fs = fs;
    this.layout = layout;
    this.locks = locks;
  }

  /**
   * One file of the copy.
   *
   * @param epoch of the root tablet; 0 for other nodes
   * @param number of the file, among those with the same epoch
   */
  private record CopyFile(Path path, long epoch, long number) {
    static final Comparator<CopyFile> BY_AGE =
        Comparator.comparingLong(CopyFile::epoch).thenComparingLong(CopyFile::number);

    static Optional<CopyFile> of(Path path, String kind) {
      String name = path.getName();
      if (!name.startsWith(kind)) {
        return Optional.empty();
      }
      try {
        String numbers = name.substring(kind.length());
        int dash = numbers.indexOf('-');
        return Optional.of(
            new CopyFile(
                path,
                dash < 0 ? 0 : Long.parseLong(numbers.substring(0, dash)),
                Long.parseLong(numbers.substring(dash + 1))));
      } catch (NumberFormatException e) {
        return Optional.empty(); // A draft, or somebody else's.
      }
    }
  }

  /**
   * What the newest sound files have.
   *
   * @param nodes by path; with the root tablet's record, if there is a copy of it
   * @param nodesCopied when all but the root tablet's record were copied
   * @param rootCopied when that was copied
   */
  public record Contents(
      Map<String, Bytes> nodes, Optional<Instant> nodesCopied, Optional<Instant> rootCopied) {}

  /**
   * Copies the root tablet's record: before the tablet is served under an epoch, and after each
   * change of the record.
   *
   * @param served the record under which the tablet is, or will be, served
   * @throws SteleException REFUSED if the tablet was served under a higher epoch: the lock service
   *     has an earlier state than it had
   * @throws IOException if it could not be copied
   */
  public void copyRoot(TabletRecord served) throws IOException {
    List<CopyFile> files = files(ROOT);
    requireNewest(served, files);
    Optional<VersionedData> node = locks.read(LockPaths.ROOT);
    if (node.isEmpty()) {
      throw SteleException.notFound("the lock service has no record of the root tablet");
    }
    long epoch = served.assignment().epoch();
    long number =
        1
            + files.stream()
                .filter(file -> file.epoch() == epoch)
                .mapToLong(CopyFile::number)
                .max()
                .orElse(0);
    write(ROOT + epoch + "-" + number, Map.of(LockPaths.ROOT, node.get().data()));
    deleteBut(files);
  }

  /**
   * Refuses a record of the root tablet that is older than the tablet.
   *
   * @throws SteleException REFUSED if the tablet was served under a higher epoch
   */
  void requireNewest(TabletRecord root) throws IOException {
    requireNewest(root, files(ROOT));
  }

  private void requireNewest(TabletRecord root, List<CopyFile> files) {
    long epoch = root.assignment().epoch();
    long served = files.isEmpty() ? 0 : files.get(0).epoch();
    if (served > epoch) {
      throw SteleException.refused(
          "the lock service has the root tablet's record of epoch "
              + epoch
              + ", but the tablet was served under epoch "
              + served
              + ": the lock service was put back to an earlier state, in which acknowledged writes"
              + " are missing. Nothing was changed. Delete the cluster's node in the lock service,"
              + " and run `stele restore-zookeeper`");
    }
  }

  /**
   * Copies all nodes that stay but the root tablet's record, if they changed since this object
   * copied them. If they do not rest long enough to be read twice alike, the next call copies them.
   *
   * @return whether it wrote a copy
   */
  public boolean copyNodes() throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Map<String, Bytes> nodes = read();
      List<CopyFile> files = files(NODES);
      if (nodes.equals(lastCopied) && !files.isEmpty()) {
        return false;
      }
      if (withoutJobs(nodes).equals(withoutJobs(read()))) {
        write(NODES + (files.isEmpty() ? 1 : files.get(0).number() + 1), nodes);
        deleteBut(files);
        lastCopied = nodes;
        return true;
      }
    }
    return false;
  }

  /** Jobs renew their leases all the time, and depend on nothing else here. */
  private static Map<String, Bytes> withoutJobs(Map<String, Bytes> nodes) {
    Map<String, Bytes> others = new TreeMap<>(nodes);
    others.keySet().removeIf(path -> path.startsWith(LockPaths.JOBS + "/"));
    return others;
  }

  private Map<String, Bytes> read() throws IOException {
    Map<String, Bytes> nodes = new TreeMap<>();
    for (String path : SINGLE) {
      read(path, nodes);
    }
    for (String parent : PARENTS) {
      for (String child : locks.children(parent)) {
        read(parent + "/" + child, nodes);
      }
    }
    return nodes;
  }

  private void read(String path, Map<String, Bytes> nodes) throws IOException {
    locks.read(path).ifPresent(node -> nodes.put(path, node.data()));
  }

  /**
   * Why the copy could not be restored now; empty if it could.
   *
   * @param root the root tablet's record
   */
  public Optional<String> trouble(TabletRecord root) throws IOException {
    Contents contents;
    try {
      contents = contents();
    } catch (CorruptionException | SteleException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
    List<CopyFile> files = files(ROOT);
    if (contents.nodesCopied().isEmpty() || files.isEmpty()) {
      return Optional.of("it is not complete");
    }
    boolean isLoaded = root.assignment().state() == Assignment.State.LOADED;
    return isLoaded && files.get(0).epoch() < root.assignment().epoch()
        ? Optional.of("the root tablet's record is of epoch " + files.get(0).epoch())
        : Optional.empty();
  }

  /**
   * What can be restored. A damaged file is passed over if there is an older one, but not one of
   * the root tablet's record of an older epoch: the tablet may have been served under the newer
   * one.
   */
  Contents contents() throws IOException {
    Map<String, Bytes> nodes = new TreeMap<>();
    Optional<Instant> nodesCopied = newest(NODES, nodes);
    Optional<Instant> rootCopied = newest(ROOT, nodes);
    return new Contents(nodes, nodesCopied, rootCopied);
  }

  private Optional<Instant> newest(String kind, Map<String, Bytes> nodes) throws IOException {
    List<CopyFile> files = files(kind);
    Optional<CorruptionException> damage = Optional.empty();
    for (CopyFile file : files) {
      if (file.epoch() == files.get(0).epoch()) {
        try {
          return Optional.of(decode(file.path(), nodes));
        } catch (CorruptionException e) {
          damage.ifPresent(e::addSuppressed);
          damage = Optional.of(e);
        }
      }
    }
    if (damage.isPresent()) {
      throw damage.get();
    }
    return Optional.empty();
  }

  private Instant decode(Path path, Map<String, Bytes> nodes) throws IOException {
    byte[] bytes;
    try (FSDataInputStream in = fs.open(path)) {
      bytes = in.readAllBytes();
    }
    LockNodesValue value =
        Avro.decode(Bytes.wrap(bytes), LockNodesValue.class, path.toString(), read -> read);
    if (!value.getCluster().equals(layout.cluster())) {
      throw SteleException.refused(
          path
              + " is a copy of the lock service's nodes of another cluster, "
              + value.getCluster());
    }
    for (LockNodeValue node : value.getNodes()) {
      nodes.put(node.getPath(), Avro.bytes(node.getData()));
    }
    return Instant.ofEpochMilli(value.getCopiedMillis());
  }

  private void write(String name, Map<String, Bytes> nodes) throws IOException {
    List<LockNodeValue> copied = new ArrayList<>();
    nodes.forEach(
        (path, data) ->
            copied.add(
                LockNodeValue.newBuilder().setPath(path).setData(Avro.buffer(data)).build()));
    Bytes bytes =
        Avro.encode(
            LockNodesValue.newBuilder()
                .setCluster(layout.cluster())
                .setCopiedMillis(runtime.wallClock().millis())
                .setNodes(copied)
                .build());
    Path directory = layout.lockService();
    if (!fs.exists(directory)) {
      layout.makeLockService(fs); // By a master of an earlier version it was not made.
    }
    try (DurableFile file = new DurableFiles(fs).createPrivate(new Path(directory, name))) {
      file.write(bytes.toByteArray());
      file.hsync();
    }
  }

  /**
   * Deletes all of {@code older}, newest first, but so many that with a new one {@link #KEPT} stay.
   */
  private void deleteBut(List<CopyFile> older) throws IOException {
    for (CopyFile file : older.subList(Math.min(KEPT - 1, older.size()), older.size())) {
      fs.delete(file.path(), false);
    }
  }

  /** The files of a kind, newest first. */
  private List<CopyFile> files(String kind) throws IOException {
    FileStatus[] found;
    try {
      found = fs.listStatus(layout.lockService());
    } catch (FileNotFoundException e) {
      return List.of();
    }
    List<CopyFile> files = new ArrayList<>();
    for (FileStatus status : found) {
      CopyFile.of(status.getPath(), kind).ifPresent(files::add);
    }
    files.sort(CopyFile.BY_AGE.reversed());
    return files;
  }
}
