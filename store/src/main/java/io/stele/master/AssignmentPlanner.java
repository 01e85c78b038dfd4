package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Decides what to do next, as a pure function of a snapshot: no I/O, no clock, the same answer to
 * the same snapshot. Its cost grows with the servers, and with the tablets in the snapshot times
 * the logarithm of servers: of the tables' tablets it gets only those that may need an action, not
 * those that are served and stay.
 *
 * <p>The root tablet comes first; METADATA's tablets when it is served; each other tablet when the
 * METADATA tablet with its record is. Unassigned tablets go to the servers that have the fewest,
 * the largest first, so that number and size even out. A served tablet stays where it is, unless it
 * must move. A tablet that moves goes to its target, if that server takes tablets. Draining servers
 * get no tablets, unless only such servers are left, and then only METADATA's. A tablet that could
 * not be loaded goes to another server, if there is one.
 */
public final class AssignmentPlanner {
  /** What a tablet holds; the earlier ones are loaded first. */
  private enum Level {
    ROOT,
    METADATA,
    TABLES;

    static Level of(TabletId tablet) {
      if (tablet.table().equals(TableId.ROOT)) {
        return ROOT;
      }
      return tablet.table().equals(TableId.METADATA) ? METADATA : TABLES;
    }
  }

  /** A server's load in the plan so far. */
  private record Load(int tablets, long bytes, ServerId server) {
    static final Comparator<Load> LIGHTEST_FIRST =
        Comparator.comparingInt(Load::tablets)
            .thenComparingLong(Load::bytes)
            .thenComparing(Load::server);
  }

  private final ClusterSnapshot snapshot;
  private final Map<ServerId, ClusterSnapshot.Server> live = new HashMap<>();
  private final Map<ServerId, Load> loads = new HashMap<>();
  private final TreeSet<Load> lightest = new TreeSet<>(Load.LIGHTEST_FIRST);
  private final TreeSet<Load> leaving = new TreeSet<>(Load.LIGHTEST_FIRST);
  private final List<Action> actions = new ArrayList<>();

  private AssignmentPlanner(ClusterSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  /** The actions for {@code snapshot}, in this order. */
  public static List<Action> plan(ClusterSnapshot snapshot) {
    return new AssignmentPlanner(snapshot).plan();
  }

  private List<Action> plan() {
    // A server may have been fenced since those that live were listed.
    List<ClusterSnapshot.Server> servers =
        snapshot.servers().stream()
            .filter(server -> !snapshot.fenced().contains(server.id()))
            .toList();
    for (ClusterSnapshot.Server server : servers) {
      live.put(server.id(), server);
      loads.put(server.id(), new Load(server.tablets(), server.bytes(), server.id()));
    }
    snapshot.tablets().forEach(this::count);
    for (ClusterSnapshot.Server server : servers) {
      (server.draining() ? leaving : lightest).add(loads.get(server.id()));
    }
    ServedMetadata metadata = servedMetadata();
    List<ClusterSnapshot.Tablet> free = new ArrayList<>();
    for (ClusterSnapshot.Tablet tablet : snapshot.tablets()) {
      if (!metadata.hasRecord(tablet.id(), tablet.row())) {
        continue; // Its record cannot be written yet.
      }
      Optional<ServerId> server = tablet.assignment().server();
      if (server.isPresent()) {
        follow(tablet, server.get(), free);
      } else if (!snapshot.dropping().contains(tablet.id().table())) {
        free.add(tablet);
      }
    }
    assign(free);
    actions.sort(Comparator.comparing(action -> Level.of(action.tablet())));
    return actions;
  }

  private void count(ClusterSnapshot.Tablet tablet) {
    tablet
        .assignment()
        .server()
        .ifPresent(
            server ->
                loads.computeIfPresent(
                    server,
                    (id, load) -> new Load(load.tablets() + 1, load.bytes() + tablet.bytes(), id)));
  }

  private ServedMetadata servedMetadata() {
    boolean rootServed = false;
    List<ServedMetadata.Part> parts = new ArrayList<>();
    for (ClusterSnapshot.Tablet tablet : snapshot.tablets()) {
      switch (Level.of(tablet.id())) {
        case ROOT -> rootServed = isServed(tablet);
        case METADATA -> {
          if (isServed(tablet)) {
            parts.add(new ServedMetadata.Part(tablet.id(), tablet.extent()));
          }
        }
        case TABLES -> {}
      }
    }
    return new ServedMetadata(rootServed, parts);
  }

  private boolean isServed(ClusterSnapshot.Tablet tablet) {
    return tablet.assignment().state() == Assignment.State.LOADED
        && tablet.assignment().server().filter(live::containsKey).isPresent();
  }

  /** A tablet whose record names a server. */
  private void follow(
      ClusterSnapshot.Tablet tablet, ServerId server, List<ClusterSnapshot.Tablet> free) {
    if (snapshot.fenced().contains(server)) {
      if (snapshot.dropping().contains(tablet.id().table())) {
        actions.add(new Action.Release(tablet.id(), server));
      } else {
        free.add(tablet);
      }
    } else if (!live.containsKey(server)) {
      return; // Neither alive nor fenced: no action is safe yet.
    } else if (tablet.assignment().state() == Assignment.State.ASSIGNED) {
      actions.add(new Action.Load(tablet.id(), server));
    } else if (snapshot.dropping().contains(tablet.id().table())) {
      actions.add(new Action.Discard(tablet.id(), server));
    } else if (leaves(tablet, server)) {
      actions.add(new Action.Unload(tablet.id(), server));
    }
  }

  /** Whether it must move, and another server can take it. */
  private boolean leaves(ClusterSnapshot.Tablet tablet, ServerId server) {
    ClusterSnapshot.Move move = snapshot.moves().get(tablet.id());
    if (move == null) {
      return false;
    }
    return move.to().isPresent()
        ? !move.to().get().equals(server) && takes(move.to().get())
        : lightest.stream().anyMatch(load -> !load.server().equals(server));
  }

  private boolean takes(ServerId server) {
    return live.containsKey(server) && !live.get(server).draining();
  }

  private void assign(List<ClusterSnapshot.Tablet> free) {
    free.sort(
        Comparator.comparing((ClusterSnapshot.Tablet tablet) -> Level.of(tablet.id()))
            .thenComparing(Comparator.comparingLong(ClusterSnapshot.Tablet::bytes).reversed())
            .thenComparing(ClusterSnapshot.Tablet::id));
    for (ClusterSnapshot.Tablet tablet : free) {
      // The last servers to drain keep METADATA: without it the others could not be released.
      boolean system = tablet.id().table().isSystem();
      TreeSet<Load> from = lightest.isEmpty() && system ? leaving : lightest;
      if (from.isEmpty()) {
        return; // No server takes tablets.
      }
      Load to = choose(tablet, from);
      from.remove(to);
      Load more = new Load(to.tablets() + 1, to.bytes() + tablet.bytes(), to.server());
      from.add(more);
      loads.put(to.server(), more);
      actions.add(new Action.Assign(tablet.id(), to.server()));
    }
  }

  /** Where a tablet goes: where it is meant to, or to the lightest that it does not avoid. */
  private Load choose(ClusterSnapshot.Tablet tablet, NavigableSet<Load> from) {
    Optional<ClusterSnapshot.Move> move = Optional.ofNullable(snapshot.moves().get(tablet.id()));
    Optional<ServerId> wanted = move.flatMap(ClusterSnapshot.Move::to).filter(this::takes);
    if (wanted.isPresent() && !tablet.failedOn().equals(wanted)) {
      return Objects.requireNonNull(loads.get(wanted.get()));
    }
    Optional<ServerId> left = move.map(ClusterSnapshot.Move::from);
    return from.stream()
        .filter(
            load -> {
              Optional<ServerId> server = Optional.of(load.server());
              return !tablet.failedOn().equals(server) && !left.equals(server);
            })
        .findFirst()
        .orElseGet(from::first);
  }
}
