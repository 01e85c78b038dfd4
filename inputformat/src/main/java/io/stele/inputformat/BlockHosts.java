package io.stele.inputformat;

import io.stele.client.PinnedTablets;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.PinnedTablet;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.security.AccessControlException;

/**
 * Finds the hosts of splits that are read directly: the hosts of their files' blocks, those with
 * most bytes first. HDFS returns a file's blocks only to users who may read it, so a job that could
 * not read its table is refused here. For one thread.
 */
final class BlockHosts {
  private static final int HOSTS_MAX = 3;
  private static final BlockLocation[] NONE = {};

  private final PinnedTablets pinned;
  private Map<String, BlockLocation[]> blocks = Map.of(); // By path.

  /** Rows that are part of a split. */
  private record Part(RowRange rows, TableSplit split) {}

  /** A tablet, and the splits with rows of it, in order. */
  private record Shared(PinnedTablet tablet, List<TableSplit> splits) {}

  BlockHosts(PinnedTablets pinned) {
    this.pinned = pinned;
  }

  /**
   * Gives splits of one scan their hosts.
   *
   * @throws SteleException REFUSED if the user may not read the table's files
   */
  void locate(List<TableSplit> splits) throws IOException {
    List<Part> parts = new ArrayList<>();
    splits.forEach(split -> split.ranges().forEach(rows -> parts.add(new Part(rows, split))));
    parts.sort(Comparator.comparing(part -> part.rows().start()));
    List<Shared> shared = new ArrayList<>();
    int first = 0;
    for (PinnedTablet tablet : pinned.all()) {
      while (first < parts.size() && endsBefore(parts.get(first).rows(), tablet.rows())) {
        first++;
      }
      List<TableSplit> sharing = new ArrayList<>();
      for (int i = first; i < parts.size(); i++) {
        TableSplit split = parts.get(i).split();
        if (!tablet.rows().isBeforeEnd(parts.get(i).rows().start())) {
          break;
        }
        if (!sharing.contains(split)) {
          sharing.add(split);
        }
      }
      if (!sharing.isEmpty()) {
        shared.add(new Shared(tablet, sharing));
      }
    }
    blocks =
        pinned.ask(
            shared.stream().flatMap(one -> one.tablet().files().stream()).toList(), this::blocks);
    Map<TableSplit, Map<String, Long>> bytes = new HashMap<>(); // By split and host.
    for (Shared one : shared) {
      share(one.tablet(), one.splits(), bytes);
    }
    bytes.forEach((split, hosts) -> split.readFrom(largest(hosts)));
  }

  private static boolean endsBefore(RowRange part, RowRange tablet) {
    return !part.end().isEmpty() && part.end().compareTo(tablet.start()) <= 0;
  }

  /**
   * Splits that share a tablet read one after another of each of its files, about as much as they
   * are long.
   */
  private void share(
      PinnedTablet tablet, List<TableSplit> sharing, Map<TableSplit, Map<String, Long>> bytes)
      throws IOException {
    double total = (double) sharing.stream().mapToLong(TableSplit::getLength).sum();
    double before = 0;
    for (TableSplit split : sharing) {
      double after = before + (double) split.getLength();
      Map<String, Long> hosts = bytes.computeIfAbsent(split, none -> new TreeMap<>());
      for (FileRef file : tablet.files()) {
        add(file, before / total * file.length(), after / total * file.length(), hosts);
      }
      before = after;
    }
  }

  private void add(FileRef file, double from, double to, Map<String, Long> hosts)
      throws IOException {
    for (BlockLocation block : blocks.getOrDefault(file.path(), NONE)) {
      double start = Math.max(from, (double) block.getOffset());
      double end = Math.min(to, (double) block.getOffset() + block.getLength());
      if (start < end) {
        for (String host : block.getHosts()) {
          hosts.merge(host, Math.round(end - start), Long::sum);
        }
      }
    }
  }

  private BlockLocation[] blocks(FileRef file) throws IOException {
    Path path = new Path(pinned.root(), file.path());
    FileSystem fs = pinned.files();
    try {
      fs.access(path, FsAction.READ);
      return fs.getFileBlockLocations(path, 0, file.length());
    } catch (AccessControlException e) {
      throw ReadRights.refused(pinned.name(), path, e);
    } catch (FileNotFoundException e) {
      return NONE; // Replaced by a compaction: others are read in its place.
    }
  }

  private static List<String> largest(Map<String, Long> hosts) {
    return hosts.entrySet().stream()
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .limit(HOSTS_MAX)
        .map(Map.Entry::getKey)
        .toList();
  }
}
