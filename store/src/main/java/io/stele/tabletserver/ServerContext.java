package io.stele.tabletserver;

import io.stele.metadata.TabletRecords;
import io.stele.model.ServerId;
import io.stele.runtime.ProcessRuntime;

/**
 * What the parts of one tablet server share.
 *
 * @param runtime clocks, threads, timers, and ways to wait
 * @param id the server's name
 * @param life whether it still lives, and how it ends itself
 * @param records the tablets' records
 * @param tablets those it serves
 * @param resources logs, memory and threads, for each kind of tablet its own
 */
record ServerContext(
    ProcessRuntime runtime,
    ServerId id,
    ServerLife life,
    TabletRecords records,
    HostedTablets tablets,
    ServerResources resources) {}
