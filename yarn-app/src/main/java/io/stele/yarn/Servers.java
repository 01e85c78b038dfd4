package io.stele.yarn;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * The ApplicationMaster's connection to Stele's own processes, which it finds by their containers.
 * Calls block; safe for use by several threads.
 */
interface Servers {
  /** What {@link #registered} says of draining was read at most this long before it was called. */
  Duration DRAINING_AGE_MAX = Duration.ofSeconds(10);

  /**
   * Asks the tablet server in the container to give its tablets away and then end; returns when it
   * has begun. If it fails to, it takes its tablets back, and tries again by itself while another
   * server takes tablets. To ask while it gives them away changes nothing. Operators cannot undo it
   * before the next attempt of the ApplicationMaster has had time to ask again ({@link
   * ApplicationSnapshot.Limits#nextAttemptWithin}).
   *
   * @param unlessLast only while another server takes tablets
   * @throws NotRegisteredException if no tablet server is registered from the container
   * @throws IOException if it is not known whether it was asked
   */
  void drain(String containerId, boolean unlessLast) throws IOException;

  /**
   * Tells the active master that the tablet server in the container has ended, so that it need not
   * wait for the lock. Tries for two minutes until that is done, or the lock is gone anyway. Does
   * nothing if no tablet server is registered from the container.
   *
   * @param seen whether the process's end was seen where it ran: otherwise it may go on unseen
   */
  void exited(String containerId, boolean seen) throws IOException;

  /**
   * Takes the masters' lock if the container's process holds it, which has ended or may go on
   * unseen: another is elected, and that one ends. Waits for nothing but the lock service, for two
   * minutes at most.
   */
  void deposeMaster(String containerId) throws IOException;

  /**
   * What the lock service says of processes in containers.
   *
   * @param containers those whose processes have started up and registered themselves
   * @param draining those of them whose tablet servers give their tablets away and take none; of a
   *     server that has begun or ended to within the last {@link #DRAINING_AGE_MAX} that may not be
   *     known yet
   */
  record Registered(Set<String> containers, Set<String> draining) {
    public Registered {
      containers = Set.copyOf(containers);
      draining = Set.copyOf(draining);
    }
  }

  /**
   * Which of these containers' processes have registered themselves.
   *
   * @param running containers and what runs in them
   */
  Registered registered(Map<String, ComponentKind> running) throws IOException;

  /**
   * In which order these tablet servers should end when all are to: each after those of a lower
   * rank. Those left out have rank 0. If several have METADATA, these unload all else first.
   *
   * @param timeout how long they may take to unload it; none is waited for longer
   */
  Map<String, Integer> stopRanks(Set<String> containers, Duration timeout) throws IOException;

  /** For processes that are no servers of Stele: in tests of the application alone. */
  static Servers none() {
    return new Servers() {
      @Override
      public void drain(String containerId, boolean unlessLast) throws IOException {
        throw new NotRegisteredException(containerId);
      }

      @Override
      public void exited(String containerId, boolean seen) {}

      @Override
      public void deposeMaster(String containerId) {}

      @Override
      public Registered registered(Map<String, ComponentKind> running) {
        return new Registered(running.keySet(), Set.of());
      }

      @Override
      public Map<String, Integer> stopRanks(Set<String> containers, Duration timeout) {
        return Map.of();
      }
    };
  }
}
