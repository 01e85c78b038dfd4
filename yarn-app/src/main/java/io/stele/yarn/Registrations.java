package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.HeldContainerProto;
import io.stele.yarn.HeldContainer.Phase;
import io.stele.yarn.HeldContainer.Registration;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What the lock service says of the processes in our containers: which have started up, for how
 * long which have had no lock, and which give their tablets away; or that it does not answer. It is
 * noted in the containers.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class Registrations {
  /** Between two answers no more than this counts. */
  private static final Duration GAP_MAX = Duration.ofSeconds(20);

  /** The state is not saved more often than this because a process starts. */
  private static final Duration STARTING_STEP = Duration.ofSeconds(30);

  /** Operators are told when the lock service has been away for this long. */
  private static final Duration SILENCE_MAX = Duration.ofMinutes(1);

  /** The lock service has not answered since then. */
  private record Silence(Instant since, String reason) {}

  private final HeldContainers containers;

  /** Containers of running tablet servers that hold no lock, and of masters while none holds it. */
  private final Absences locksAbsent = new Absences(GAP_MAX);

  private Optional<Silence> silence = Optional.empty();

  Registrations(HeldContainers containers) {
    this.containers = containers;
  }

  /** Whether some process runs and is not known to have started up. */
  boolean someStart() {
    return !containers.all(held -> held.phase() == Phase.RUNNING && !held.hasStartedUp()).isEmpty();
  }

  /**
   * Containers of which the lock service may know something new: those whose processes may run. A
   * tablet server holds a lock as long as it serves, also while it drains; of the masters that
   * serve one does.
   */
  Map<String, ComponentKind> toBeRegistered() {
    Map<String, ComponentKind> running = new TreeMap<>();
    for (HeldContainer held : containers.all()) {
      switch (held.phase()) {
        case RUNNING, DRAINING, EXPECTED, RECOVERED, CHECKING ->
            running.put(held.id(), held.slot().kind());
        case ALLOCATED, STARTING, STOPPING, RELEASED -> {
          // Nothing runs yet, or its end alone is news.
        }
      }
    }
    return running;
  }

  /** Writes for how long the processes in the containers in {@code proto} have been starting. */
  void writeTo(ApplicationStateProto.Builder proto) {
    for (HeldContainerProto.Builder one : proto.getContainersBuilderList()) {
      Duration time = startingFor(one.getId());
      if (!time.isZero()) {
        one.setStartingForMillis(time.toMillis());
      }
    }
  }

  /** Zero if it does not start; in steps that are worth to be saved. */
  private Duration startingFor(String id) {
    boolean starts = containers.find(id).filter(held -> !held.hasStartedUp()).isPresent();
    return starts
        ? STARTING_STEP.multipliedBy(locksAbsent.of(id).dividedBy(STARTING_STEP))
        : Duration.ZERO;
  }

  /**
   * Takes over for how long processes had been starting when an earlier attempt last saw them. They
   * may have come up since, so it is not noted in their containers before the next list.
   */
  void takeOver(ApplicationStateProto proto) {
    for (HeldContainerProto one : proto.getContainersList()) {
      if (one.hasStartingForMillis()) {
        locksAbsent.takeOver(one.getId(), Duration.ofMillis(one.getStartingForMillis()));
      }
    }
  }

  /**
   * Notes what the lock service says of the processes in the containers asked for.
   *
   * @param begun when it was asked
   */
  void listed(Set<String> asked, Servers.Registered registered, Instant begun, Instant now) {
    silence = Optional.empty();
    Set<String> expected =
        asked.stream()
            .filter(id -> containers.find(id).isPresent())
            .collect(Collectors.toUnmodifiableSet());
    locksAbsent.listed(expected, registered.containers(), now);
    for (HeldContainer held : containers.all()) {
      String id = held.id();
      Optional<Duration> withoutLock =
          locksAbsent.isAbsent(id) ? Optional.of(locksAbsent.of(id)) : Optional.empty();
      boolean startedUp = held.hasStartedUp() || registered.containers().contains(id);
      Optional<Instant> read =
          asked.contains(id)
              ? Optional.of(begun.minus(Servers.DRAINING_AGE_MAX))
              : held.marks().registration().read();
      Registration registration =
          new Registration(startedUp, withoutLock, registered.draining().contains(id), read);
      containers.mark(id, marks -> marks.registration(registration));
    }
  }

  /** Notes that the lock service does not say which processes it knows. */
  void missedList(String reason, Instant now) {
    locksAbsent.missedList();
    silence = Optional.of(new Silence(silence.map(Silence::since).orElse(now), reason));
  }

  /** Why it is not known which processes serve; empty if it is, or has not been for a moment. */
  Optional<String> whyUnknown(Instant now) {
    return silence
        .filter(one -> Duration.between(one.since(), now).compareTo(SILENCE_MAX) >= 0)
        .map(
            one ->
                "ZooKeeper has not answered the ApplicationMaster for "
                    + Duration.between(one.since(), now).toSeconds()
                    + " s, so it does not see which processes serve, and replaces none that hangs: "
                    + one.reason());
  }
}
