package io.stele.tabletserver;

import io.stele.metadata.TabletRecords;
import io.stele.model.ServerId;
import io.stele.runtime.ProcessRuntime;

/**
 * What the parts of one tablet server share.
 *
 * @param runtime clocks, threads, timers, and ways to wait
 * @param id the server's name
 * @param life whether the server is still alive, and how it stops itself
 * @param records the tablets' records
 * @param tablets those it serves
 * @param resources separate logs, memory and threads for each kind of tablet
 */
record ServerContext(
    ProcessRuntime runtime,
    ServerId id,
    ServerLife life,
    TabletRecords records,
    HostedTablets tablets,
    ServerResources resources) {}
