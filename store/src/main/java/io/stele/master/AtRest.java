package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Chooses which of many nodes of the lock service to read each time they are listed: all that may
 * be in the middle of a change, and a few of those at rest, in turn. So the cost does not grow with
 * the nodes, and what somebody else does to a node at rest is found eventually.
 *
 * <p>Safe for use by any number of threads.
 *
 * @param <K> the nodes' keys
 */
final class AtRest<K extends Comparable<K>> {
  private final int fewMax;

  @GuardedBy("this")
  private final NavigableSet<K> atRest = new TreeSet<>();

  @GuardedBy("this")
  private Optional<K> last = Optional.empty(); // Of those at rest that were chosen.

  /**
   * No node is at rest.
   *
   * @param fewMax how many of the nodes at rest to read each time, at most
   */
  AtRest(int fewMax) {
    this.fewMax = fewMax;
  }

  /** The nodes to read, of {@code all} that exist. */
  synchronized List<K> choose(Set<K> all) {
    atRest.retainAll(all);
    List<K> chosen = new ArrayList<>();
    for (K node : all) {
      if (!atRest.contains(node)) {
        chosen.add(node);
      }
    }
    List<K> inTurn = new ArrayList<>();
    last.ifPresent(one -> inTurn.addAll(few(atRest.tailSet(one, false))));
    for (K node : few(atRest)) {
      if (inTurn.size() < fewMax && !inTurn.contains(node)) {
        inTurn.add(node);
      }
    }
    if (!inTurn.isEmpty()) {
      last = Optional.of(inTurn.get(inTurn.size() - 1));
    }
    chosen.addAll(inTurn);
    return chosen;
  }

  private List<K> few(Set<K> nodes) {
    return nodes.stream().limit(fewMax).toList();
  }

  /** The node was read: nothing is being changed about it. */
  synchronized void rests(K node) {
    atRest.add(node);
  }

  /** A change of the node begins, or has ended: it is read the next time. */
  synchronized void moves(K node) {
    atRest.remove(node);
  }
}
