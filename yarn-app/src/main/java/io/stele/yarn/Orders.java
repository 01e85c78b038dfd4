package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.KindCountProto;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * What operators want: how many processes of each kind, what they are started with, and whether all
 * is to end.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class Orders {
  /** Enough for YARN to stop servers, and for those with METADATA to drain after them. */
  private static final Duration STOP_RESERVE_MAX = Duration.ofSeconds(15);

  private final Map<ComponentKind, Integer> wanted = new EnumMap<>(ComponentKind.class);

  /** Since when other numbers are wanted than those that the application was submitted with. */
  private final Map<ComponentKind, Instant> wantedSince = new EnumMap<>(ComponentKind.class);

  private Deployment deployment;
  private Optional<Stop> stop = Optional.empty();

  /**
   * What operators want at a moment.
   *
   * @param wanted how many components of each kind to keep running
   * @param wantedSince since when it is that many, of the kinds for which an operator has changed
   *     it
   * @param stop how everything must end; empty if it need not
   */
  record Snapshot(
      Map<ComponentKind, Integer> wanted,
      Map<ComponentKind, Instant> wantedSince,
      Optional<Stop> stop) {
    Snapshot {
      wanted = Map.copyOf(wanted);
      wantedSince = Map.copyOf(wantedSince);
    }

    /** How many of the kind are wanted while not everything is to end. */
    int countOf(ComponentKind kind) {
      return wanted.getOrDefault(kind, 0);
    }
  }

  /**
   * How everything ends.
   *
   * @param by until when servers may drain; empty if each has the time that is configured
   * @param ranks in which order tablet servers end: a container after those of a lower rank; empty
   *     while not known
   */
  record Stop(Optional<Instant> by, Optional<Map<String, Integer>> ranks) {
    Stop {
      ranks = ranks.map(Map::copyOf);
    }
  }

  /**
   * @param deployment what the application was submitted with
   */
  Orders(YarnSettings settings, Deployment deployment) {
    this.deployment = deployment;
    settings.kinds().forEach((kind, component) -> wanted.put(kind, component.count()));
  }

  /** From now on {@code count} of the kind are wanted. */
  void want(ComponentKind kind, int count, Instant now) {
    if (!Integer.valueOf(count).equals(wanted.put(kind, count))) {
      wantedSince.put(kind, now);
    }
  }

  /** What containers are started with. */
  Deployment deployment() {
    return deployment;
  }

  /** Notes what containers are started with from now on; returns whether that is news. */
  boolean deploy(Deployment next) {
    boolean isOther = !next.equals(deployment);
    deployment = next;
    return isOther;
  }

  /**
   * Notes that all is to end.
   *
   * @param timeout for how long the operator waits; empty if each server has the time to drain that
   *     is configured
   */
  void stop(Optional<Duration> timeout, Instant now) {
    Optional<Instant> by = timeout.map(all -> now.plus(all).minus(stopReserve(all)));
    stop = Optional.of(new Stop(by, ranks()));
  }

  /** What is left of the operator's time when servers that drain are stopped: they must end too. */
  private static Duration stopReserve(Duration timeout) {
    Duration quarter = timeout.dividedBy(4);
    return quarter.compareTo(STOP_RESERVE_MAX) < 0 ? quarter : STOP_RESERVE_MAX;
  }

  private Optional<Map<String, Integer>> ranks() {
    return stop.flatMap(Stop::ranks);
  }

  boolean isStopping() {
    return stop.isPresent();
  }

  /** Notes in which order tablet servers are to end, now that all is to. */
  void setStopRanks(Map<String, Integer> ranks) {
    stop = stop.map(one -> new Stop(one.by(), Optional.of(ranks)));
  }

  /**
   * How long servers with METADATA may take to unload all else before any server ends: half of the
   * time that is left, so that the others have the other half.
   *
   * @param drainTimeout how long if the operator has not limited the time
   */
  Duration unloadTimeout(Duration drainTimeout, Instant now) {
    Duration half =
        stop.flatMap(Stop::by)
            .map(by -> Duration.between(now, by).dividedBy(2))
            .orElse(drainTimeout);
    return half.isNegative() ? Duration.ZERO : half;
  }

  Snapshot snapshot() {
    return new Snapshot(wanted, wantedSince, stop);
  }

  /** Writes what the next attempt must know. */
  void writeTo(ApplicationStateProto.Builder proto) {
    proto.setStopping(isStopping());
    stop.flatMap(Stop::by).ifPresent(by -> proto.setStopByMillis(by.toEpochMilli()));
    wanted.forEach(
        (kind, count) -> {
          KindCountProto.Builder entry =
              KindCountProto.newBuilder().setKind(kind.id()).setCount(count);
          Optional.ofNullable(wantedSince.get(kind))
              .ifPresent(since -> entry.setSinceMillis(since.toEpochMilli()));
          proto.addCounts(entry);
        });
    proto.setDeployment(deployment.toProto());
  }

  /** Takes over what an earlier attempt of this application was told. */
  void takeOver(ApplicationStateProto proto, SavedTimes times) {
    if (proto.getStopping()) {
      Optional<Instant> by =
          proto.hasStopByMillis()
              ? Optional.of(times.any(proto.getStopByMillis()))
              : Optional.empty();
      stop = Optional.of(new Stop(by, Optional.empty()));
    }
    for (KindCountProto count : proto.getCountsList()) {
      ComponentKind kind = ComponentKind.parse(count.getKind());
      wanted.put(kind, count.getCount());
      if (count.hasSinceMillis()) {
        wantedSince.put(kind, times.past(count.getSinceMillis()));
      }
    }
    if (proto.hasDeployment()) {
      deployment = Deployment.of(proto.getDeployment());
    }
  }
}
