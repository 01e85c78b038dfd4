package io.stele.yarn;

/**
 * A node that YARN reports as alive.
 *
 * @param name as a request names it: the host, or host:port where the scheduler is set to that
 * @param leaving whether it is being decommissioned
 * @param memoryMb all memory that YARN may give away there
 * @param freeMemoryMb what of it was free at the last report
 */
record Node(String name, boolean leaving, long memoryMb, long freeMemoryMb) {}
