package io.stele.master;

import io.stele.model.ServerId;
import io.stele.model.TabletId;

/**
 * A server's report of a tablet that it could not load.
 *
 * @param epoch of the assignment
 * @param failsElsewhere whether the reason lies in the tablet, so that other servers would fail too
 */
record LoadFailureReport(
    ServerId server, TabletId tablet, long epoch, String reason, boolean failsElsewhere) {}
