package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.wire.HostShare;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Decides what to do next, as a pure function of a snapshot: no I/O, no clock, the same answer to
 * the same snapshot. Its cost grows with the servers, and with the tablets in the snapshot times
 * the logarithm of servers: of the tables' tablets it gets only those that may need an action, not
 * those that are served and stay.
 *
 * <p>The root tablet comes first; METADATA's tablets when it is served; each other tablet when the
 * METADATA tablet with its record is. Unassigned tablets of tables go to servers on whose hosts
 * their bytes lie, as far as number and size of the servers' tablets stay so even that they need
 * not be balanced ({@link Evenness}). All others go to the lightest servers, the largest first. A
 * served tablet stays where it is, unless it must move. A tablet that moves goes to its target, if
 * that server takes tablets. Draining servers get no tablets, unless no other is left that answers,
 * and then only METADATA's. A tablet that could not be loaded goes to another server, if there is
 * one. METADATA's tablets go to a server that may have just fallen silent only if there is no
 * other.
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

  /** A server with what it has in the plan so far. */
  private record PlannedServer(double weight, Evenness.Holdings has, ServerId server) {
    static final Comparator<PlannedServer> LIGHTEST_FIRST =
        Comparator.comparingDouble(PlannedServer::weight)
            .thenComparingLong(planned -> planned.has().bytes())
            .thenComparing(PlannedServer::server);
  }

  private static final int LOCAL_PERCENT_MIN = 10; // A smaller share is not worth looking for.

  private final ClusterSnapshot snapshot;
  private final Map<ServerId, ClusterSnapshot.Server> live = new HashMap<>();
  private final Map<ServerId, Evenness.Holdings> holdings = new HashMap<>();
  private final Map<String, List<ServerId>> byHost = new HashMap<>(); // Of those that take all.
  private final EnumMap<ClusterSnapshot.Takes, NavigableSet<PlannedServer>> byTakes =
      new EnumMap<>(ClusterSnapshot.Takes.class);
  private final List<AssignmentStep> actions = new ArrayList<>();
  private Evenness evenness = new Evenness(List.of(), List.of()); // Of what is to be assigned.

  private AssignmentPlanner(ClusterSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  /** The actions for {@code snapshot}, in this order. */
  public static List<AssignmentStep> plan(ClusterSnapshot snapshot) {
    return new AssignmentPlanner(snapshot).plan();
  }

  private List<AssignmentStep> plan() {
    // A server may have been fenced since those that live were listed.
    List<ClusterSnapshot.Server> servers =
        snapshot.servers().stream()
            .filter(server -> !snapshot.fenced().contains(server.id()))
            .toList();
    for (ClusterSnapshot.Server server : servers) {
      live.put(server.id(), server);
      holdings.put(server.id(), new Evenness.Holdings(server.tablets(), server.bytes()));
    }
    snapshot.tablets().forEach(this::count);
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
        .ifPresent(server -> holdings.computeIfPresent(server, (id, has) -> has.plus(tablet)));
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
        actions.add(new AssignmentStep(AssignmentStep.Kind.RELEASE, tablet.id(), server));
      } else {
        free.add(tablet);
      }
    } else if (!live.containsKey(server)) {
      return; // Neither alive nor fenced: no action is safe yet.
    } else if (tablet.assignment().state() == Assignment.State.ASSIGNED) {
      actions.add(new AssignmentStep(AssignmentStep.Kind.LOAD, tablet.id(), server));
    } else if (snapshot.dropping().contains(tablet.id().table())) {
      actions.add(new AssignmentStep(AssignmentStep.Kind.DISCARD, tablet.id(), server));
    } else if (leaves(tablet, server)) {
      actions.add(new AssignmentStep(AssignmentStep.Kind.UNLOAD, tablet.id(), server));
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
        : live.keySet().stream().anyMatch(other -> !other.equals(server) && takes(other));
  }

  private boolean takes(ServerId server) {
    return live.containsKey(server) && live.get(server).takes() == ClusterSnapshot.Takes.ALL;
  }

  private void assign(List<ClusterSnapshot.Tablet> free) {
    if (free.isEmpty()) {
      return;
    }
    prepare(free);
    free.sort(
        Comparator.comparing((ClusterSnapshot.Tablet tablet) -> Level.of(tablet.id()))
            .thenComparing(Comparator.comparingLong(ClusterSnapshot.Tablet::bytes).reversed())
            .thenComparing(ClusterSnapshot.Tablet::id));
    List<ClusterSnapshot.Tablet> others = new ArrayList<>();
    for (ClusterSnapshot.Tablet tablet : free) {
      Optional<ServerId> to =
          wanted(tablet).or(() -> local(tablet, planned -> evenness.allows(planned.has(), tablet)));
      if (to.isPresent()) {
        assign(tablet, to.get());
      } else if (tablet.id().table().isSystem()) {
        lightest(tablet).ifPresent(server -> assign(tablet, server));
      } else {
        others.add(tablet);
      }
    }
    for (ClusterSnapshot.Tablet tablet : others) {
      Optional<ServerId> server = lightest(tablet);
      double light = server.map(id -> planned(id).weight()).orElse(0.0);
      local(tablet, planned -> evenness.isAbout(planned.weight(), light))
          .or(() -> server)
          .ifPresent(to -> assign(tablet, to));
    }
  }

  private void prepare(List<ClusterSnapshot.Tablet> free) {
    List<ServerId> takers = live.keySet().stream().filter(this::takes).toList();
    evenness = new Evenness(takers.stream().map(this::has).toList(), free);
    live.values().forEach(server -> takers(server.takes()).add(planned(server.id())));
    if (free.stream().anyMatch(tablet -> !tablet.localHosts().isEmpty())) {
      for (ServerId id : takers) {
        String host = HostShare.name(id.host());
        byHost.computeIfAbsent(host, name -> new ArrayList<>(1)).add(id);
      }
    }
  }

  private Evenness.Holdings has(ServerId server) {
    return Objects.requireNonNull(holdings.get(server));
  }

  private PlannedServer planned(ServerId server) {
    return new PlannedServer(evenness.weight(has(server)), has(server), server);
  }

  private void assign(ClusterSnapshot.Tablet tablet, ServerId server) {
    NavigableSet<PlannedServer> from = takers(Objects.requireNonNull(live.get(server)).takes());
    from.remove(planned(server));
    if (takes(server)) {
      evenness.assign(has(server), tablet);
    }
    holdings.put(server, has(server).plus(tablet));
    from.add(planned(server));
    actions.add(new AssignmentStep(AssignmentStep.Kind.ASSIGN, tablet.id(), server));
  }

  /** Where a tablet is meant to move. */
  private Optional<ServerId> wanted(ClusterSnapshot.Tablet tablet) {
    return Optional.ofNullable(snapshot.moves().get(tablet.id()))
        .flatMap(ClusterSnapshot.Move::to)
        .filter(this::takes)
        .filter(to -> !avoids(tablet, to) && !isDoubtful(tablet, to));
  }

  /** The server on whose host most of its bytes lie, among those that {@code may} get it. */
  private Optional<ServerId> local(ClusterSnapshot.Tablet tablet, Predicate<PlannedServer> may) {
    if (tablet.id().table().isSystem()) {
      return Optional.empty(); // METADATA is spread over the servers.
    }
    for (HostShare host : tablet.localHosts()) {
      Optional<PlannedServer> best =
          host.percent() < LOCAL_PERCENT_MIN
              ? Optional.empty()
              : byHost.getOrDefault(host.host(), List.of()).stream()
                  .filter(server -> !avoids(tablet, server))
                  .map(this::planned)
                  .min(PlannedServer.LIGHTEST_FIRST);
      if (best.filter(may).isPresent()) {
        return best.map(PlannedServer::server);
      }
    }
    return Optional.empty();
  }

  /**
   * The lightest server that takes the tablet: if possible one that it does not avoid and that is
   * not in doubt, then one that it does not avoid, then any.
   */
  private Optional<ServerId> lightest(ClusterSnapshot.Tablet tablet) {
    NavigableSet<PlannedServer> from = takersOf(tablet);
    return first(from, server -> !avoids(tablet, server) && !isDoubtful(tablet, server))
        .or(() -> first(from, server -> !avoids(tablet, server)))
        .or(() -> first(from, server -> true));
  }

  private static Optional<ServerId> first(
      NavigableSet<PlannedServer> of, Predicate<ServerId> wanted) {
    return of.stream().map(PlannedServer::server).filter(wanted).findFirst();
  }

  private NavigableSet<PlannedServer> takersOf(ClusterSnapshot.Tablet tablet) {
    NavigableSet<PlannedServer> takers = takers(ClusterSnapshot.Takes.ALL);
    return takers.isEmpty() && tablet.id().table().isSystem()
        // The last servers to drain keep METADATA: without it the others could not be released.
        ? byTakes.values().stream().filter(some -> !some.isEmpty()).findFirst().orElse(takers)
        : takers;
  }

  /** The servers that take such tablets, the lightest first. */
  private NavigableSet<PlannedServer> takers(ClusterSnapshot.Takes takes) {
    return byTakes.computeIfAbsent(takes, any -> new TreeSet<>(PlannedServer.LIGHTEST_FIRST));
  }

  /** Whether it could not be loaded there, or is meant to leave. */
  private boolean avoids(ClusterSnapshot.Tablet tablet, ServerId server) {
    ClusterSnapshot.Move move = snapshot.moves().get(tablet.id());
    return tablet.failedOn().equals(Optional.of(server))
        || (move != null && move.from().equals(server));
  }

  /** Whether it is METADATA's, and might wait there for a silent server. */
  private boolean isDoubtful(ClusterSnapshot.Tablet tablet, ServerId server) {
    return tablet.id().table().isSystem() && Objects.requireNonNull(live.get(server)).inDoubt();
  }
}
