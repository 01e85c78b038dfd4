package io.stele.yarn;

import java.time.Instant;
import java.util.Set;

/**
 * An outstanding request to YARN for one container.
 *
 * @param tried nodes that were asked for before and had no room in time
 * @param since when it was made
 * @param begun when the first request for this container was made, for whatever node
 */
record Ask(SlotId slot, Placement placement, Set<String> tried, Instant since, Instant begun) {
  Ask {
    tried = Set.copyOf(tried);
  }
}
