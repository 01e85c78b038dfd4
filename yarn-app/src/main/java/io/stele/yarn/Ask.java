package io.stele.yarn;

import java.time.Instant;
import java.util.Set;

/**
 * An outstanding request to YARN for one container.
 *
 * @param tried nodes that were asked for before and had no room in time
 * @param since when it was made
 */
record Ask(SlotId slot, Placement placement, Set<String> tried, Instant since) {
  Ask {
    tried = Set.copyOf(tried);
  }
}
