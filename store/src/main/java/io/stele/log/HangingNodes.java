package io.stele.log;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * Guesses which DataNodes hang, from the files that are on them: a node of a file that was written
 * or closed just now answers, and one of a file that is stuck may hang, the more such files it has.
 * HDFS's client finds out only after a minute, and for each file anew.
 *
 * <p>Immutable; safe for use by any number of threads.
 */
final class HangingNodes {
  /** Nothing is known. */
  static final HangingNodes NONE = new HangingNodes(Set.of(), List.of(), List.of());

  private static final int BEST = 8; // More than a file has replicas.

  private final Set<String> known;
  private final Set<String> answering = new HashSet<>();
  private final Map<String, Integer> stuck = new HashMap<>(); // How many files that are stuck.

  /**
   * What is known of nodes, each named as {@link io.stele.files.DurableFile#nodes} does.
   *
   * @param known all nodes that are known; those of the files need not be among them
   * @param answering the nodes of files that are written or closed
   * @param stuck the nodes of files that can be neither written nor closed now
   */
  HangingNodes(
      Set<String> known, Collection<List<String>> answering, Collection<List<String>> stuck) {
    Set<String> all = new HashSet<>(known);
    for (List<String> file : answering) {
      this.answering.addAll(file);
      all.addAll(file);
    }
    for (List<String> file : stuck) {
      file.forEach(node -> this.stuck.merge(node, 1, Integer::sum));
      all.addAll(file);
    }
    this.known = Set.copyOf(all);
  }

  /**
   * What the files in {@code directory} say of their nodes. Of each file the last block counts.
   *
   * @param answering the names of files that are closed
   * @param stuck the names of files that cannot be closed now
   */
  static HangingNodes of(FileSystem fs, Path directory, Set<String> answering, Set<String> stuck)
      throws IOException {
    Set<String> known = new HashSet<>();
    List<List<String>> answeringFiles = new ArrayList<>();
    List<List<String>> stuckFiles = new ArrayList<>();
    RemoteIterator<LocatedFileStatus> found = fs.listLocatedStatus(directory);
    while (found.hasNext()) {
      LocatedFileStatus file = found.next();
      if (!file.isFile()) {
        continue; // Outside of HDFS a directory has null blocks.
      }
      List<String> last = List.of();
      for (BlockLocation block : file.getBlockLocations()) {
        last = List.of(block.getNames());
        known.addAll(last);
      }
      String name = file.getPath().getName();
      if (stuck.contains(name)) {
        stuckFiles.add(last);
      } else if (answering.contains(name)) {
        answeringFiles.add(last);
      }
    }
    return new HangingNodes(known, answeringFiles, stuckFiles);
  }

  /**
   * Where the next file should be, the best nodes first; none if nothing is stuck, so that it may
   * be anywhere. Among equals the order is another each time. At most eight.
   */
  List<String> best(RandomGenerator random) {
    if (stuck.isEmpty()) {
      return List.of();
    }
    List<String> nodes = new ArrayList<>(known);
    Collections.sort(nodes); // So that the random numbers decide alone.
    Collections.shuffle(nodes, new Random(random.nextLong()));
    nodes.sort(Comparator.comparing(this::badness));
    return nodes.subList(0, Math.min(BEST, nodes.size()));
  }

  private int badness(String node) {
    return answering.contains(node) ? -1 : stuck.getOrDefault(node, 0);
  }
}
