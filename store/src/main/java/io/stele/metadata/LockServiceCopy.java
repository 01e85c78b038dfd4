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
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.HedgedCall;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The copy that the root directory has of what the lock service keeps: the nodes without which the
 * files cannot be served. {@link LockServiceRestore} puts it into a lock service that has lost its
 * data, and by it a lock service that was put back to an earlier state is recognized.
 *
 * <pre>
 * lock-service/root-&lt;epoch&gt;-0     the root tablet was served under that epoch; empty
 * lock-service/root-&lt;epoch&gt;-&lt;n&gt;   the root tablet's record
 * lock-service/nodes-&lt;n&gt;          all other nodes that stay: schemas, names, jobs, ..., and those of
 *                                 kinds that only later versions know
 * </pre>
 *
 * A file is written once, under the next number, and the two newest of each kind stay. A server
 * that loads the root tablet marks its epoch first: that needs the NameNode alone, so the tablet
 * can be served while nothing can be written. It copies the record when it serves the tablet, and
 * after each change of the record, if that takes seconds at most before files or logs that the
 * record names no more are deleted. If a record could not be copied, or a server of an earlier
 * version has loaded the tablet, the active master copies it. All others are written by the active
 * master.
 *
 * <p>Who copies the root tablet's record lists the files, reads the node, and creates the file with
 * the next number, which nobody else can create. So of two files of one epoch the one with the
 * higher number is not older, whoever wrote them. Safe for use by any number of threads, but for
 * {@link #copyNodes}.
 */
public final class LockServiceCopy {
  private static final Logger LOG = LoggerFactory.getLogger(LockServiceCopy.class);

  /** Of a copy of the root tablet's record, before its epoch. */
  private static final String ROOT = "root-";

  /** Of a copy of the other nodes, before its number. */
  private static final String NODES = "nodes-";

  private static final int KEPT = 2;
  private static final int ATTEMPTS_MAX = 5;
  private static final Duration ATTEMPT_PATIENCE = Duration.ofSeconds(3);
  private static final int ROUNDS_MAX = 3;

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final Layout layout;
  private final LockService locks;
  private Map<String, CopiedNode> lastCopied = Map.of();

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

    boolean isMark() {
      return epoch > 0 && number == 0;
    }

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
        return Optional.empty(); // Somebody else's.
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
      Map<String, CopiedNode> nodes, Optional<Instant> nodesCopied, Optional<Instant> rootCopied) {}

  /**
   * Marks that the root tablet is served under an epoch, before it is.
   *
   * @throws SteleException REFUSED if the tablet was served under a higher epoch: the lock service
   *     has an earlier state than it had
   * @throws IOException if the mark could not be made
   */
  public void markRoot(long epoch) throws IOException {
    requireNewest(epoch, files(ROOT));
    makeDirectory();
    Path mark = new Path(layout.lockService(), ROOT + epoch + "-0");
    try {
      new DurableFiles(fs).createPrivate(mark).close();
    } catch (FileAlreadyExistsException e) {
      LOG.debug("{} is there already: this server loads the tablet again", mark, e);
    }
  }

  /**
   * Copies the root tablet's record.
   *
   * @param served the record under which the tablet is served
   * @throws SteleException REFUSED as {@link #markRoot} does
   * @throws IOException if it could not be copied
   */
  public void copyRoot(TabletRecord served) throws IOException {
    long epoch = served.assignment().epoch();
    // By bad luck a pipeline has a DataNode that hangs.
    HedgedCall.first(
        runtime,
        "copy-root",
        ATTEMPT_PATIENCE,
        ROUNDS_MAX,
        () -> {
          requireNewest(epoch, files(ROOT));
          return write(ROOT, epoch, this::root);
        },
        written -> {});
  }

  private Map<String, CopiedNode> root() throws IOException {
    VersionedData node =
        locks
            .read(LockPaths.ROOT)
            .orElseThrow(
                () -> SteleException.notFound("ZooKeeper has no record of the root tablet"));
    return Map.of(LockPaths.ROOT, CopiedNode.of(node));
  }

  /**
   * Copies the root tablet's record, if the newest copy has another one and no server has copied
   * it.
   *
   * @return whether it did
   */
  public boolean copyRootIfBehind(TabletRecord served) throws IOException {
    boolean isBehind =
        served.assignment().state() == Assignment.State.LOADED && !isRootCopied(served);
    if (isBehind) {
      copyRoot(served);
    }
    return isBehind;
  }

  private boolean isRootCopied(TabletRecord served) throws IOException {
    List<CopyFile> files = files(ROOT);
    if (files.isEmpty()
        || files.get(0).isMark()
        || files.get(0).epoch() < served.assignment().epoch()) {
      return false;
    }
    Map<String, CopiedNode> copied = new TreeMap<>();
    try {
      decode(files.get(0).path(), copied);
    } catch (CorruptionException | NewerFormatException e) {
      LOG.warn("The newest copy of the root tablet's record cannot be read, and is not ours", e);
      return false;
    }
    CopiedNode copy = copied.get(LockPaths.ROOT);
    Optional<VersionedData> now = locks.read(LockPaths.ROOT);
    return copy != null && now.isPresent() && copy.data().equals(now.get().data());
  }

  /**
   * Refuses a lock service that is older than its copy, as far as its numbers say: the epoch of the
   * root tablet, the newest table id, and the number of schema changes that may be forgotten.
   *
   * @throws SteleException REFUSED if it is
   */
  void requireNewest(TabletRecord root) throws IOException {
    requireNewest(root.assignment().epoch(), files(ROOT));
    Map<String, CopiedNode> copied = nodesIfSound();
    requireNotLower(LockPaths.TABLE_IDS, copied, TableIds::number);
    requireNotLower(LockPaths.FORGOTTEN_CHANGES, copied, TableNames::forgotten);
  }

  /** The number in the data of a node, which only grows. */
  private interface Numbers {
    long of(Bytes data) throws IOException;
  }

  private void requireNotLower(String path, Map<String, CopiedNode> copied, Numbers numbers)
      throws IOException {
    CopiedNode copy = copied.get(path);
    if (copy != null) {
      Optional<VersionedData> now = locks.read(path);
      long was = numbers.of(copy.data());
      long is = now.isEmpty() ? 0 : numbers.of(now.get().data());
      if (is < was) {
        throw isEarlier("node " + path + " of ZooKeeper has " + is + ", but had " + was);
      }
    }
  }

  private static void requireNewest(long epoch, List<CopyFile> files) {
    long served = files.isEmpty() ? 0 : files.get(0).epoch();
    if (served > epoch) {
      throw isEarlier(
          "ZooKeeper has the root tablet's record of epoch "
              + epoch
              + ", but the tablet was served under epoch "
              + served);
    }
  }

  private static SteleException isEarlier(String why) {
    return SteleException.refused(
        why
            + ": ZooKeeper was put back to an earlier state, in which acknowledged changes"
            + " are missing. Nothing was changed. Delete the cluster's node in ZooKeeper,"
            + " and run `stele restore-zookeeper`");
  }

  /**
   * Copies nodes, if they are not the ones that this object has copied last. Of nodes that are lost
   * or damaged it keeps what it had ({@link FormerNodes}). For one thread at a time.
   *
   * @return whether it wrote a copy
   * @throws SteleException REFUSED if a name has had more changes in the copy of another master:
   *     the lock service has an earlier state than it had
   */
  public boolean copyNodes(LastingNodes read) throws IOException {
    Map<String, CopiedNode> former = lastCopied.isEmpty() ? nodesIfSound() : lastCopied;
    Map<String, CopiedNode> nodes = FormerNodes.kept(read.nodes(), former);
    if (nodes.equals(lastCopied) && !files(NODES).isEmpty()) {
      return false;
    }
    if (lastCopied.isEmpty()) {
      requireNamesNotOlder(nodes, former);
    }
    write(NODES, 0, () -> nodes);
    lastCopied = nodes;
    return true;
  }

  private static void requireNamesNotOlder(
      Map<String, CopiedNode> nodes, Map<String, CopiedNode> former) throws IOException {
    for (Map.Entry<String, CopiedNode> node : former.entrySet()) {
      CopiedNode now = nodes.get(node.getKey());
      Optional<String> name = LockPaths.childName(LockPaths.NAMES, node.getKey());
      if (now != null && name.isPresent()) {
        requireNameNotOlder(name.get(), now.data(), node.getValue().data());
      }
    }
  }

  private static void requireNameNotOlder(String name, Bytes now, Bytes former) throws IOException {
    long was;
    long is;
    try {
      was = TableNames.sequence(name, former);
      is = TableNames.sequence(name, now);
    } catch (NewerFormatException e) {
      LOG.debug("How many changes table {} has had is not known to this version", name, e);
      return;
    }
    if (is < was) {
      throw isEarlier("table " + name + " has had " + is + " changes, but had " + was);
    }
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
    if (contents.nodesCopied().isEmpty() || contents.rootCopied().isEmpty()) {
      return Optional.of("it is not complete");
    }
    return root.assignment().state() == Assignment.State.LOADED && !isRootCopied(root)
        ? Optional.of("the root tablet's record has changed since it was copied")
        : Optional.empty();
  }

  /**
   * What can be restored. A damaged file is passed over if there is an older one, but not one of
   * the root tablet's record of an older epoch: the tablet may have been served under the newer
   * one.
   *
   * @throws SteleException REFUSED if the root tablet was served under a higher epoch than the one
   *     that was copied
   * @throws NewerFormatException if a later version wrote the newest file: an older one would lose
   *     what was changed since
   */
  Contents contents() throws IOException {
    Map<String, CopiedNode> nodes = new TreeMap<>();
    Optional<Instant> nodesCopied = newest(NODES, nodes);
    Optional<Instant> rootCopied = newest(ROOT, nodes);
    if (rootCopied.isPresent()) {
      requireNoNewerFiles(files(ROOT).get(0).epoch());
    }
    return new Contents(nodes, nodesCopied, rootCopied);
  }

  private void requireNoNewerFiles(long epoch) throws IOException {
    Path any = layout.resolve(Layout.file(TabletId.ROOT, epoch, 1));
    for (FileStatus file : list(any.getParent())) {
      Optional<CopyFile> sstable =
          CopyFile.of(new Path(ROOT + file.getPath().getName().replace(".sst", "")), ROOT);
      if (sstable.isPresent() && sstable.get().epoch() > epoch) {
        throw SteleException.refused(
            "the root tablet has "
                + file.getPath().getName()
                + ", which is of a higher epoch than the copy of its record: the copy is older than"
                + " the tablet");
      }
    }
  }

  /**
   * The copied nodes of the newest file that can be read, to compare others with: numbers only
   * grow, so older ones are a lower bound. None if all are damaged or of a later version: the
   * cluster is served without them.
   */
  private Map<String, CopiedNode> nodesIfSound() throws IOException {
    for (CopyFile file : files(NODES)) {
      if (!file.isMark()) {
        Map<String, CopiedNode> copied = new TreeMap<>();
        try {
          decode(file.path(), copied);
          return copied;
        } catch (CorruptionException | NewerFormatException e) {
          LOG.warn("A copy of ZooKeeper's nodes cannot be read, and is not compared", e);
        }
      }
    }
    return Map.of();
  }

  private Optional<Instant> newest(String kind, Map<String, CopiedNode> nodes) throws IOException {
    List<CopyFile> files = files(kind);
    Optional<CorruptionException> damage = Optional.empty();
    for (CopyFile file : files) {
      if (file.epoch() == files.get(0).epoch() && !file.isMark()) {
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
    if (!files.isEmpty()) {
      throw SteleException.refused(
          "the root tablet was served under epoch "
              + files.get(0).epoch()
              + ", and its record has not been copied since: "
              + layout.lockService()
              + " has an older one at most");
    }
    return Optional.empty();
  }

  /** The id of the cluster whose copies are in {@code directory}, of any that can be read. */
  static Optional<String> clusterOf(FileSystem fs, Path directory) throws IOException {
    if (!fs.exists(directory)) {
      return Optional.empty();
    }
    for (FileStatus file : fs.listStatus(directory)) {
      if (file.isFile() && file.getLen() > 0) {
        try {
          return Optional.of(read(fs, file.getPath()).getCluster());
        } catch (CorruptionException | NewerFormatException e) {
          LOG.warn("A copy of ZooKeeper's nodes cannot be read: another may be", e);
        }
      }
    }
    return Optional.empty();
  }

  private static LockNodesValue read(FileSystem fs, Path path) throws IOException {
    byte[] bytes;
    try (FSDataInputStream in = fs.open(path)) {
      bytes = in.readAllBytes();
    }
    return Avro.decode(Bytes.wrap(bytes), LockNodesValue.class, path.toString(), read -> read);
  }

  private Instant decode(Path path, Map<String, CopiedNode> nodes) throws IOException {
    LockNodesValue value = read(fs, path);
    if (!value.getCluster().equals(layout.cluster())) {
      throw SteleException.refused(
          path + " is a copy of ZooKeeper's nodes of another cluster, " + value.getCluster());
    }
    for (LockNodeValue node : value.getNodes()) {
      nodes.put(
          node.getPath(),
          new CopiedNode(Avro.bytes(node.getData()), node.getVersion(), node.getChange()));
    }
    return Instant.ofEpochMilli(value.getCopiedMillis());
  }

  /**
   * Writes the next file of a kind, and deletes those that are no longer needed.
   *
   * @param read reads what to write, once it is clear which file is the next
   */
  private Path write(String kind, long epoch, IoCallable<Map<String, CopiedNode>> read)
      throws IOException {
    makeDirectory();
    for (int attempt = 1; true; attempt++) {
      List<CopyFile> files = files(kind);
      long last =
          files.stream()
              .filter(file -> file.epoch() == epoch)
              .mapToLong(CopyFile::number)
              .max()
              .orElse(0);
      String name = kind + (epoch == 0 ? "" : epoch + "-") + (last + 1);
      Path path = new Path(layout.lockService(), name);
      Bytes bytes = encode(read.call());
      try (DurableFile file = new DurableFiles(fs).createPrivate(path)) {
        file.write(bytes.toByteArray());
        file.hsync();
        deleteBut(files);
        return path;
      } catch (FileAlreadyExistsException e) {
        if (attempt == ATTEMPTS_MAX) {
          throw e;
        } // Another process was faster: the next number.
      }
    }
  }

  private void makeDirectory() throws IOException {
    if (!fs.exists(layout.lockService())) {
      layout.makeLockService(fs); // By a master of an earlier version it was not made.
    }
  }

  private Bytes encode(Map<String, CopiedNode> nodes) {
    List<LockNodeValue> copied = new ArrayList<>();
    new TreeMap<>(nodes)
        .forEach(
            (path, node) ->
                copied.add(
                    LockNodeValue.newBuilder()
                        .setPath(path)
                        .setData(Avro.buffer(node.data()))
                        .setVersion(node.version())
                        .setChange(node.change())
                        .build()));
    return Avro.encode(
        LockNodesValue.newBuilder()
            .setCluster(layout.cluster())
            .setCopiedMillis(runtime.wallClock().millis())
            .setNodes(copied)
            .build());
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
    List<CopyFile> files = new ArrayList<>();
    for (FileStatus status : list(layout.lockService())) {
      CopyFile.of(status.getPath(), kind).ifPresent(files::add);
    }
    files.sort(CopyFile.BY_AGE.reversed());
    return files;
  }

  private List<FileStatus> list(Path directory) throws IOException {
    try {
      return List.of(fs.listStatus(directory));
    } catch (FileNotFoundException e) {
      return List.of();
    }
  }
}
