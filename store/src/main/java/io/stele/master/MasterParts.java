package io.stele.master;

import io.stele.metadata.TabletRecords;
import io.stele.runtime.ProcessRuntime;

/**
 * The parts of a master that its loop shares with requests: requests say there what they want, or
 * ask there what is known, and the loop acts.
 *
 * @param reports of the servers about themselves
 * @param silent the servers that do not answer the master
 * @param moves the tablets that will move to other servers
 * @param merges the tablets that will be merged with a neighbour
 * @param failures the tablets that servers could not load
 * @param rebalancing the balancing of tablets among servers
 */
record MasterParts(
    ServerReports reports,
    SilentServers silent,
    Moves moves,
    Merges merges,
    LoadFailures failures,
    Rebalancing rebalancing) {

  /**
   * The parts of a new master: nothing is known or wanted yet.
   *
   * @param records as the loop reads and writes them
   */
  static MasterParts of(ProcessRuntime runtime, TabletRecords records, TabletServers servers) {
    ServerReports reports = new ServerReports(runtime, servers, new HostNumbers());
    Moves moves = new Moves(runtime);
    Merges merges = new Merges(runtime, records);
    return new MasterParts(
        reports,
        new SilentServers(reports, new LoadTimes(runtime)),
        moves,
        merges,
        new LoadFailures(runtime, records),
        new Rebalancing(moves, merges, servers));
  }
}
