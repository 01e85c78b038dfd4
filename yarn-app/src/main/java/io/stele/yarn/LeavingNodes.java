package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.LeavingNodeProto;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Since when nodes have been leaving. YARN tells how long a node may take from the beginning, but
 * not when that was.
 *
 * <p>A node that is not listed for some time may come back with a ResourceManager that restarts,
 * and goes on leaving then. It is forgotten when it is listed as one that stays, or when it has
 * been in no list for a long time.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class LeavingNodes {
  /** Between two lists no more than this counts. */
  private static final Duration GAP_MAX = Duration.ofMinutes(1);

  private final Duration expiry;
  private final TreeMap<String, Instant> since = new TreeMap<>();
  private final Absences absent = new Absences(GAP_MAX);

  /**
   * No node is known to leave.
   *
   * @param expiry a node that is in no list for this long is forgotten
   */
  LeavingNodes(Duration expiry) {
    this.expiry = expiry;
  }

  /** Notes whether the node leaves. */
  void seen(Node node, Instant now) {
    absent.seen(node.name());
    if (node.leaving()) {
      since.putIfAbsent(node.name(), now);
    } else {
      since.remove(node.name());
    }
  }

  /** Notes which nodes are in a list, after {@link #seen} was called for each of them. */
  void listed(Set<String> names, Instant now) {
    absent.listed(Set.copyOf(since.keySet()), names, now);
    since.keySet().removeIf(name -> absent.of(name).compareTo(expiry) >= 0);
  }

  /** Notes that no list could be made. */
  void missedList() {
    absent.missedList();
  }

  /** Since when the node has been leaving; {@code now} if it is not known to. */
  Instant since(String name, Instant now) {
    return since.getOrDefault(name, now);
  }

  /** What the next attempt of the ApplicationMaster must know. */
  List<LeavingNodeProto> toProto() {
    return since.entrySet().stream()
        .map(
            entry ->
                LeavingNodeProto.newBuilder()
                    .setNode(entry.getKey())
                    .setSinceMillis(entry.getValue().toEpochMilli())
                    .build())
        .toList();
  }

  /** Takes over what an earlier attempt knew. */
  void takeOver(List<LeavingNodeProto> saved, SavedTimes times) {
    for (LeavingNodeProto entry : saved) {
      since.put(entry.getNode(), times.past(entry.getSinceMillis()));
    }
  }
}
