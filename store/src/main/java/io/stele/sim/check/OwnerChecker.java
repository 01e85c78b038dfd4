package io.stele.sim.check;

import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Whether each row had at most one server that answered for it, and epochs only grew. */
public final class OwnerChecker {
  private OwnerChecker() {}

  /**
   * A time during which a server answered for a tablet.
   *
   * @param server the server
   * @param tablet the tablet
   * @param epoch the epoch it was loaded under
   * @param rows its rows
   * @param fromNanos when it first could answer
   * @param toNanos from when on it could not any more; {@link Long#MAX_VALUE} if it still can
   */
  public record Service(
      ServerId server, TabletId tablet, long epoch, RowRange rows, long fromNanos, long toNanos) {
    private boolean overlaps(Service other) {
      return tablet.table().equals(other.tablet.table())
          && fromNanos < other.toNanos
          && other.fromNanos < toNanos
          && rows.intersection(other.rows).isPresent();
    }
  }

  /**
   * What is wrong.
   *
   * @param services in any order
   */
  public static List<Violation> check(List<Service> services) {
    Findings findings = new Findings("owners");
    List<Service> byTime = new ArrayList<>(services);
    byTime.sort(Comparator.comparingLong(Service::fromNanos));
    Map<TabletId, Service> last = new HashMap<>();
    List<Service> open = new ArrayList<>();
    for (Service service : byTime) {
      open.removeIf(earlier -> earlier.toNanos() <= service.fromNanos());
      for (Service earlier : open) {
        if (earlier.overlaps(service)) {
          findings.add("the same rows are served at once by " + earlier + " and " + service);
        }
      }
      open.add(service);
      Service before = last.put(service.tablet(), service);
      if (before != null && before.epoch() >= service.epoch()) {
        findings.add("the epoch did not grow from " + before + " to " + service);
      }
    }
    return findings.violations();
  }
}
