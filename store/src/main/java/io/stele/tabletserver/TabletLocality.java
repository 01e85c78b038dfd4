package io.stele.tabletserver;

import io.stele.metadata.Layout;
import io.stele.record.FileRef;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.HostShare;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out on which hosts the bytes of this server's tablets lie: where HDFS keeps the blocks of
 * their SSTables.
 *
 * <p>Nothing waits for that. It asks the NameNode about one file a second: all servers of a large
 * cluster may start at the same time. The largest unknown file comes first. A file never changes,
 * and is asked about again only after hours, because HDFS may have moved or lost copies of its
 * blocks. Of a file that tablets share after a split, all bytes count for each of them.
 *
 * <p>{@link #run} is for one thread; the rest is safe for use by any number of threads.
 */
final class TabletLocality {
  private static final Logger LOG = LoggerFactory.getLogger(TabletLocality.class);
  private static final Duration ASK_EVERY = Duration.ofSeconds(1);
  private static final Duration AGAIN_AFTER = Duration.ofHours(6);
  private static final int HOSTS_OF_FILE_MAX = 8;
  private static final int HOSTS_OF_TABLET_MAX = 3;
  private static final int WHOLE = 100; // Percent.

  private final ProcessRuntime runtime;
  private final ServerLife life;
  private final HostedTablets tablets;
  private final FileSystem fs;
  private final Layout layout;
  private final String ownHost;
  private final Map<String, FileHosts> files = new ConcurrentHashMap<>(); // By path.

  /**
   * Where the blocks of a file are.
   *
   * @param bytes the file's bytes on the hosts that have most of them
   * @param length the sum of its blocks' lengths
   * @param askedNanos when that was so
   */
  private record FileHosts(Map<String, Long> bytes, long length, long askedNanos) {}

  TabletLocality(ServerContext server, FileSystem fs, Layout layout) {
    this.runtime = server.runtime();
    this.life = server.life();
    this.tablets = server.tablets();
    this.fs = fs;
    this.layout = layout;
    this.ownHost = HostShare.name(server.id().host());
  }

  /** Asks, slowly, until the server ends. */
  void run() {
    try {
      while (!life.awaitEnd(ASK_EVERY)) {
        ask();
      }
    } catch (InterruptedException e) {
      Futures.interruptAgain(); // The server stops.
    }
  }

  /** Asks where one file is: the largest unknown one, or one that was asked about long ago. */
  void ask() {
    Map<String, FileRef> now = new HashMap<>();
    for (HostedTablet hosted : tablets.all()) {
      hosted.record().files().forEach(file -> now.put(file.path(), file));
    }
    files.keySet().retainAll(now.keySet());
    Optional<FileRef> next =
        now.values().stream()
            .filter(file -> !files.containsKey(file.path()))
            .max(Comparator.comparingLong(FileRef::length).thenComparing(FileRef::path))
            .or(() -> oldest(now));
    next.ifPresent(this::ask);
  }

  private Optional<FileRef> oldest(Map<String, FileRef> now) {
    long time = runtime.nanoTime();
    return files.entrySet().stream()
        .filter(one -> time - one.getValue().askedNanos() >= AGAIN_AFTER.toNanos())
        .max(Comparator.comparingLong(one -> time - one.getValue().askedNanos()))
        .map(one -> now.get(one.getKey()));
  }

  private void ask(FileRef file) {
    long time = runtime.nanoTime();
    try {
      BlockLocation[] blocks =
          fs.getFileBlockLocations(layout.resolve(file.path()), 0, file.length());
      files.put(file.path(), hosts(blocks, time));
    } catch (FileNotFoundException | RuntimeException e) {
      // The tablet has just dropped it, or it is damaged. It must not keep others from being asked.
      LOG.debug("File {} is on no host", file.path(), e);
      files.put(file.path(), new FileHosts(Map.of(), 0, time));
    } catch (IOException e) {
      LOG.debug("Cannot find out now on which hosts {} is; will retry", file.path(), e);
    }
  }

  private static FileHosts hosts(BlockLocation[] blocks, long time) throws IOException {
    Map<String, Long> bytes = new HashMap<>();
    long length = 0;
    for (BlockLocation block : blocks) {
      length += block.getLength();
      Set<String> names = new HashSet<>(); // Two DataNodes of a host count once.
      for (String host : block.getHosts()) {
        names.add(HostShare.name(host).intern());
      }
      names.forEach(host -> bytes.merge(host, block.getLength(), Long::sum));
    }
    Map<String, Long> most = new HashMap<>();
    best(bytes).limit(HOSTS_OF_FILE_MAX).forEach(one -> most.put(one.getKey(), one.getValue()));
    return new FileHosts(Map.copyOf(most), length, time);
  }

  private static Stream<Map.Entry<String, Long>> best(Map<String, Long> bytes) {
    return bytes.entrySet().stream()
        .sorted(
            Map.Entry.<String, Long>comparingByValue()
                .reversed()
                .thenComparing(Map.Entry.comparingByKey()));
  }

  /** The hosts with most of the tablet's bytes, the best first; none as long as much is unknown. */
  List<HostShare> of(HostedTablet hosted) {
    Sum sum = sum(List.of(hosted));
    if (!sum.isKnown()) {
      return List.of();
    }
    return best(sum.bytes)
        .limit(HOSTS_OF_TABLET_MAX)
        .map(one -> new HostShare(one.getKey(), sum.percent(one.getKey())))
        .toList();
  }

  /** The share of the tablets' bytes that this host has, in percent; empty while unknown. */
  Optional<Integer> localPercent(Collection<HostedTablet> some) {
    Sum sum = sum(some);
    return sum.isKnown() ? Optional.of(sum.percent(ownHost)) : Optional.empty();
  }

  private Sum sum(Collection<HostedTablet> some) {
    Sum sum = new Sum();
    for (HostedTablet hosted : some) {
      hosted
          .record()
          .files()
          .forEach(file -> sum.add(file, Optional.ofNullable(files.get(file.path()))));
    }
    return sum;
  }

  /** The bytes of some files by host. */
  private static final class Sum {
    private final Map<String, Long> bytes = new HashMap<>();
    private long known;
    private long unknown;

    void add(FileRef file, Optional<FileHosts> where) {
      if (where.isEmpty() || where.get().length() == 0) {
        unknown += file.length();
        return;
      }
      known += where.get().length();
      where.get().bytes().forEach((host, some) -> bytes.merge(host, some, Long::sum));
    }

    boolean isKnown() {
      return known > unknown;
    }

    int percent(String host) {
      return (int) (WHOLE * bytes.getOrDefault(host, 0L) / known);
    }
  }
}
