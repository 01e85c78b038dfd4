package io.stele.log;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Guesses which DataNode hangs: one that is in every pipeline that is stuck. HDFS's client finds
 * out only after a minute, and for each file anew.
 */
final class HangingNodes {
  private HangingNodes() {}

  /**
   * The nodes where a new file should be.
   *
   * @param known all that are known
   * @param stuck the nodes of each pipeline that is stuck
   * @return the known ones that do not seem to hang, in no order; none if nothing is stuck, so that
   *     one place is as good as another
   */
  static List<String> others(Set<String> known, Collection<List<String>> stuck) {
    Set<String> suspects = new HashSet<>();
    stuck.stream().findFirst().ifPresent(suspects::addAll);
    stuck.forEach(suspects::retainAll);
    return suspects.isEmpty()
        ? List.of()
        : known.stream().filter(node -> !suspects.contains(node)).toList();
  }
}
