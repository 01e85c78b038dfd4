package io.stele.sim;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * The files that the {@link CrashableFileSystem}s of all processes share, in memory, as HDFS would
 * keep them.
 *
 * <p>Of every file it knows how far it was written, how far it was hflushed (survives the death of
 * processes) and how far it was hsynced (survives a loss of power). Files have blocks, and hsync
 * concerns the last of them; those before are synced if the file was made with SYNC_BLOCK. A loss
 * of power may also take synced bytes, if more was written to their chunk afterwards. A crash cuts
 * each file at a random point past what survives, so that its tail may be torn anywhere; of a file
 * that a dead process had open, readers see another tail before it is closed than after. Names, and
 * which files are closed, are durable at once, as the NameNode's are. A stream belongs to the file,
 * not to its name: a renamed file goes on being written until its lease is recovered.
 *
 * <p>Deterministic by the generators handed in, if its users are. Safe for use by any number of
 * threads.
 */
public final class CrashableDisk {
  /** How many replicas a file is to have, and how many DataNodes there are at first. */
  static final short REPLICATION = 3;

  /** Small, so that files have several. */
  private static final int BLOCK_BYTES = 4 << 10;

  /** What has one checksum, as the default of HDFS is. */
  private static final int CHUNK_BYTES = 512;

  private static final int RECOVERY_CALLS_MAX = 3;

  /** How many calls it takes to close a file if a DataNode hangs, and of how many files one has. */
  private static final int SLOW_RECOVERY_CALLS = 300;

  private static final int SLOW_RECOVERY_OF = 6;

  /** One file or directory. */
  static final class Node {
    final boolean directory;
    final boolean syncsBlocks; // Each when it ends, as those of files made with SYNC_BLOCK.
    final long modifiedMillis;
    private byte[] bytes = new byte[0];
    private int written;
    private int flushed;
    private int synced;
    private boolean deleted;
    private int replicas;
    private int firstNode;
    private Optional<CrashableFileSystem> writer = Optional.empty(); // Empty when closed.
    private Optional<Closing> closing = Optional.empty(); // Not by its writer.

    Node(boolean directory, boolean syncsBlocks, long modifiedMillis) {
      this.directory = directory;
      this.syncsBlocks = syncsBlocks;
      this.modifiedMillis = modifiedMillis;
    }

    private int visible() {
      return writer.isPresent() ? flushed : written;
    }

    private void sync() {
      // What does not follow upon synced bytes has no use.
      if (syncsBlocks || synced >= lastBlock()) {
        synced = written;
      }
    }

    private int lastBlock() {
      return Math.max(0, written - 1) / BLOCK_BYTES * BLOCK_BYTES;
    }

    private void syncEndedBlocks() {
      if (syncsBlocks) {
        synced = Math.max(synced, lastBlock());
      }
    }

    /**
     * A chunk that was written on after it was synced has a new checksum, which may be on a disk
     * before its bytes are. Then HDFS drops the chunk.
     */
    private int survivesPowerLoss(RandomGenerator random) {
      boolean isDropped = writer.isPresent() && written > synced && random.nextBoolean();
      return isDropped ? synced / CHUNK_BYTES * CHUNK_BYTES : synced;
    }

    private void cut(int survives, RandomGenerator random) {
      end(from(survives, random));
    }

    /** Of what was not flushed, readers see another part than will be left. */
    private void orphan(int calls, RandomGenerator random) {
      boolean recovers = closing.filter(one -> one.recovers).isPresent();
      Closing dead = new Closing(OptionalInt.of(from(flushed, random)), calls);
      dead.recovers = recovers;
      closing = Optional.of(dead);
      flushed = from(flushed, random);
    }

    private int from(int survives, RandomGenerator random) {
      return survives + random.nextInt(written - survives + 1);
    }

    private void end(int length) {
      written = length;
      flushed = length;
      synced = length;
      writer = Optional.empty();
    }
  }

  /** An open file that the file system closes, once its lease is recovered. */
  private static final class Closing {
    final OptionalInt length; // When it is closed, if its writer is dead.
    private int calls; // Until then, from the first that asks for it.
    private boolean recovers;

    Closing(OptionalInt length, int calls) {
      this.length = length;
      this.calls = calls;
    }

    /** Asks whether it is closed now. */
    boolean isClosed() {
      return recovers && calls-- <= 0;
    }
  }

  private final List<FaultInjector> injectors = new CopyOnWriteArrayList<>();
  private final Map<String, Path> named = new ConcurrentHashMap<>();

  /** By name; what nodes hold is guarded in the same way. */
  @GuardedBy("this")
  private final TreeMap<String, Node> nodes = new TreeMap<>();

  @GuardedBy("this")
  private final List<CrashableFileSystem> mounted = new ArrayList<>();

  @GuardedBy("this")
  private final Map<Operation, Long> counts = new EnumMap<>(Operation.class);

  @GuardedBy("this")
  private long clockMillis;

  @GuardedBy("this")
  private boolean flushable = true;

  @GuardedBy("this")
  private int dataNodes = REPLICATION;

  @GuardedBy("this")
  private int placed;

  /** Chooses which files take long to close; empty: none. */
  @GuardedBy("this")
  private Optional<RandomGenerator> slowRecoveries = Optional.empty();

  /** An empty disk. */
  public CrashableDisk() {
    nodes.put("/", new Node(true, false, 0));
  }

  /** The disk as a new process sees it. */
  public synchronized CrashableFileSystem mount() {
    CrashableFileSystem process = new CrashableFileSystem(this);
    mounted.add(process);
    return process;
  }

  /**
   * All processes die at once: their file systems and streams fail from now on, and of every open
   * file what was not hflushed is lost from a random point on.
   */
  public synchronized void crash(RandomGenerator random) {
    killAll();
    for (Node node : nodes.values()) {
      if (node.writer.isPresent()) {
        node.cut(node.flushed, random);
      }
    }
  }

  /** As {@link #crash}, and of every file, closed ones too, what was not hsynced is lost. */
  public synchronized void powerLoss(RandomGenerator random) {
    killAll();
    nodes.values().stream()
        .filter(node -> !node.directory)
        .forEach(node -> node.cut(node.survivesPowerLoss(random), random));
  }

  /**
   * One process dies; the others go on. What it was writing stays open until its lease is
   * recovered, which takes some calls.
   */
  public synchronized void kill(CrashableFileSystem process, RandomGenerator random) {
    process.die();
    mounted.remove(process);
    for (Node node : nodes.values()) {
      if (node.writer.equals(Optional.of(process))) {
        node.orphan(recoveryCalls(random.nextInt(RECOVERY_CALLS_MAX)), random);
      }
    }
  }

  /** Asks {@code injector} before every operation from now on. */
  public void inject(FaultInjector injector) {
    injectors.add(injector);
  }

  /** Ends all injected faults. */
  public void heal() {
    injectors.clear();
  }

  /** From now on new streams say that they cannot flush, as those on erasure-coded files do. */
  public synchronized void withoutFlush() {
    flushable = false;
  }

  /**
   * From now on so many DataNodes live: files being written lose the replicas of others, and new
   * ones have no more.
   */
  public synchronized void dataNodes(int live) {
    dataNodes = live;
    nodes.values().forEach(node -> node.replicas = Math.min(node.replicas, live));
  }

  /**
   * From now on some files take long to close when their leases are recovered, as if a DataNode
   * that has them hangs. A writer that lives goes on meanwhile, in the block that it has.
   */
  public synchronized void recoverSlowly(RandomGenerator random) {
    slowRecoveries = Optional.of(random);
  }

  @GuardedBy("this")
  private int recoveryCalls(int usual) {
    return slowRecoveries.filter(random -> random.nextInt(SLOW_RECOVERY_OF) == 0).isPresent()
        ? SLOW_RECOVERY_CALLS
        : usual;
  }

  /** The DataNode with the first replica of a file. */
  public synchronized String firstNode(Path file) throws IOException {
    return "datanode" + node(key(file)).firstNode;
  }

  /** How many bytes of a file a loss of power may take: those written since its last hsync. */
  public synchronized long unsyncedBytes(Path file) throws IOException {
    Node node = node(key(file));
    return (long) node.written - node.synced;
  }

  /** The files that some process has open for writing. */
  public synchronized List<Path> openForWriting() {
    return nodes.entrySet().stream()
        .filter(entry -> entry.getValue().writer.isPresent())
        .map(entry -> new Path(entry.getKey()))
        .toList();
  }

  /** The path of that name: made once, as parsing one is dear. */
  Path named(String name, Function<String, Path> path) {
    return named.computeIfAbsent(name, path);
  }

  /** All files there are. */
  public synchronized List<Path> files() {
    return fileNames().stream().map(Path::new).toList();
  }

  /** Their names, from the root on. */
  synchronized List<String> fileNames() {
    return nodes.entrySet().stream()
        .filter(entry -> !entry.getValue().directory)
        .map(Map.Entry::getKey)
        .toList();
  }

  /** How often an operation was called so far. */
  public synchronized long count(Operation operation) {
    return counts.getOrDefault(operation, 0L);
  }

  /** Replaces one byte of a file: damage, for tests. */
  public synchronized void flipBits(Path file, int offset, int mask) throws IOException {
    node(key(file)).bytes[offset] ^= (byte) mask;
  }

  /** Shortens a file, for tests. */
  public synchronized void truncate(Path file, int length) throws IOException {
    Node node = node(key(file));
    node.written = Math.min(node.written, length);
    node.flushed = node.written;
    node.synced = node.written;
  }

  @GuardedBy("this")
  private void killAll() {
    mounted.forEach(CrashableFileSystem::die);
    mounted.clear();
  }

  // What follows is called by the file system and its streams.

  Optional<FaultInjector.Effect> fault(Operation operation, Path path) {
    synchronized (this) {
      counts.merge(operation, 1L, Long::sum);
    }
    for (FaultInjector injector : injectors) {
      Optional<FaultInjector.Effect> effect = injector.before(operation, path);
      if (effect.isPresent()) {
        return effect;
      }
    }
    return Optional.empty();
  }

  synchronized boolean flushable() {
    return flushable;
  }

  synchronized Node create(
      Path path, EnumSet<CreateFlag> flags, boolean recursive, CrashableFileSystem writer)
      throws IOException {
    String key = key(path);
    Node before = nodes.get(key);
    boolean overwrite = flags.contains(CreateFlag.OVERWRITE);
    if (before != null && (before.directory || !overwrite)) {
      throw new FileAlreadyExistsException(path + " exists");
    }
    Path parent = path.getParent();
    Node above = nodes.get(key(parent));
    if (above == null && !recursive) {
      throw new FileNotFoundException("the directory " + parent + " of " + path + " is missing");
    }
    mkdirs(parent);
    if (before != null) {
      before.deleted = true;
    }
    Node node = new Node(false, flags.contains(CreateFlag.SYNC_BLOCK), ++clockMillis);
    node.writer = Optional.of(writer);
    node.replicas = Math.min(REPLICATION, dataNodes);
    boolean near = dataNodes == 1 || !flags.contains(CreateFlag.IGNORE_CLIENT_LOCALITY);
    node.firstNode = near ? 0 : 1 + placed++ % (dataNodes - 1);
    nodes.put(key, node);
    return node;
  }

  synchronized void write(Node node, CrashableFileSystem by, byte[] bytes, int offset, int length)
      throws IOException {
    checkWriter(node, by);
    if (node.written + length > node.bytes.length) {
      node.bytes =
          Arrays.copyOf(node.bytes, Math.max(node.written + length, node.bytes.length * 2));
    }
    System.arraycopy(bytes, offset, node.bytes, node.written, length);
    node.written += length;
  }

  synchronized void flush(Node node, CrashableFileSystem by, boolean sync) throws IOException {
    checkWriter(node, by);
    if (node.flushed <= node.lastBlock()) { // The first flush of a block is told the NameNode.
      checkExists(node);
      checkNotRecovered(node);
    }
    node.flushed = node.written;
    node.syncEndedBlocks();
    if (sync) {
      node.sync();
    }
  }

  synchronized void close(Node node, CrashableFileSystem by) throws IOException {
    checkWriter(node, by);
    checkExists(node);
    checkNotRecovered(node);
    node.flushed = node.written;
    node.syncEndedBlocks();
    node.writer = Optional.empty();
  }

  synchronized int replicas(Node node) {
    return node.replicas;
  }

  synchronized String firstNode(Node node) {
    return "datanode" + node.firstNode;
  }

  /** The DataNodes go on writing a block of a file that was deleted, as in HDFS. */
  private static void checkExists(Node node) throws IOException {
    if (node.deleted) {
      throw new FileNotFoundException("the file was deleted while it was written");
    }
  }

  private static void checkWriter(Node node, CrashableFileSystem by) throws IOException {
    if (!node.writer.equals(Optional.of(by))) {
      throw new IOException("the file is closed: its lease was recovered");
    }
  }

  /** The NameNode has taken the file from its writer, though DataNodes may not know that yet. */
  private static void checkNotRecovered(Node node) throws IOException {
    if (node.closing.filter(one -> one.recovers).isPresent()) {
      throw new IOException("the file's lease was recovered");
    }
  }

  synchronized boolean recoverLease(Path path) throws IOException {
    Node node = node(key(path));
    if (node.writer.isPresent()) {
      if (node.closing.isEmpty()) {
        node.closing = Optional.of(new Closing(OptionalInt.empty(), recoveryCalls(0)));
      }
      node.closing.get().recovers = true;
    }
    return isClosed(path);
  }

  synchronized boolean isClosed(Path path) throws IOException {
    Node node = node(key(path));
    if (node.writer.isPresent() && node.closing.filter(Closing::isClosed).isPresent()) {
      if (node.closing.get().length.isPresent()) {
        node.end(node.closing.get().length.getAsInt());
      } else {
        node.written = node.flushed;
        node.writer = Optional.empty();
      }
    }
    return node.writer.isEmpty();
  }

  synchronized Node open(Path path) throws IOException {
    Node node = node(key(path));
    if (node.directory) {
      throw new FileNotFoundException(path + " is a directory");
    }
    return node;
  }

  synchronized boolean isDeleted(Node node) {
    return node.deleted;
  }

  synchronized int visible(Node node) {
    return node.directory ? 0 : node.visible();
  }

  synchronized int read(Node node, long position, byte[] target, int offset, int length) {
    int available = (int) Math.max(0, Math.min(length, node.visible() - position));
    System.arraycopy(node.bytes, (int) position, target, offset, available);
    return available;
  }

  synchronized OldNames.Seen status(Path path) throws IOException {
    return seen(key(path), node(key(path)));
  }

  synchronized List<OldNames.Seen> list(Path path) throws IOException {
    String key = key(path);
    Node node = node(key);
    if (!node.directory) {
      return List.of(seen(key, node));
    }
    List<OldNames.Seen> children = new ArrayList<>();
    for (String child : OldNames.children(nodes, key)) {
      children.add(seen(child, node(child)));
    }
    return children;
  }

  /** All names as they are now. */
  synchronized OldNames names() {
    NavigableMap<String, OldNames.Seen> seen = new TreeMap<>();
    nodes.forEach((path, node) -> seen.put(path, seen(path, node)));
    return new OldNames(seen);
  }

  private static OldNames.Seen seen(String path, Node node) {
    return new OldNames.Seen(path, node, node.visible());
  }

  synchronized boolean mkdirs(Path path) throws IOException {
    for (Path at = path; at != null; at = at.getParent()) {
      Node node = nodes.get(key(at));
      if (node != null && !node.directory) {
        throw new ParentNotDirectoryException(at + " is a file");
      }
    }
    for (Path at = path; at != null; at = at.getParent()) {
      String key = key(at);
      if (!nodes.containsKey(key)) {
        nodes.put(key, new Node(true, false, ++clockMillis));
      }
    }
    return true;
  }

  synchronized boolean delete(Path path, boolean recursive) throws IOException {
    String key = key(path);
    Node node = nodes.get(key);
    if (node == null || key.equals("/")) {
      return false;
    }
    Map<String, Node> below = below(key);
    if (!below.isEmpty() && !recursive) {
      throw new PathIsNotEmptyDirectoryException(path.toString());
    }
    below.values().forEach(child -> child.deleted = true);
    below.clear();
    node.deleted = true;
    nodes.remove(key);
    return true;
  }

  synchronized boolean rename(Path from, Path to) {
    String source = key(from);
    Node target = nodes.get(key(to));
    if (target != null && target.directory) {
      return rename(from, new Path(to, from.getName())); // As HDFS does: into the directory.
    }
    Node parent = nodes.get(key(to.getParent()));
    String destination = key(to);
    if (!nodes.containsKey(source)
        || target != null
        || parent == null
        || !parent.directory
        || destination.startsWith(source + "/")) {
      return false;
    }
    Map<String, Node> below = below(source);
    Map<String, Node> moved = new TreeMap<>();
    below.forEach((key, node) -> moved.put(destination + key.substring(source.length()), node));
    below.clear();
    nodes.put(destination, nodes.remove(source));
    nodes.putAll(moved);
    return true;
  }

  @GuardedBy("this")
  private Map<String, Node> below(String key) {
    return nodes.subMap(key + "/", key + "0"); // '0' follows '/'.
  }

  @GuardedBy("this")
  private Node node(String key) throws FileNotFoundException {
    Node node = nodes.get(key);
    if (node == null) {
      throw new FileNotFoundException(key + " does not exist");
    }
    return node;
  }

  static String key(Path path) {
    return path.toUri().getPath();
  }
}
