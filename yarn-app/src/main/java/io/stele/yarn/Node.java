package io.stele.yarn;

import java.time.Duration;
import java.util.Optional;

/**
 * A node that YARN reports as alive.
 *
 * @param name as a request names it: the host, or host:port where the scheduler is set to that
 * @param leaving whether it is being decommissioned
 * @param timeToLeave how long YARN gave it for that from the beginning; empty if it may take any
 *     time, or does not leave
 * @param memoryMb all memory that YARN may give away there
 * @param vcores all virtual cores that YARN may give away there
 * @param freeMemoryMb what of it was free at the last report
 */
record Node(
    String name,
    boolean leaving,
    Optional<Duration> timeToLeave,
    long memoryMb,
    int vcores,
    long freeMemoryMb) {}
