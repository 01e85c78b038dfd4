package io.stele.master;

import io.stele.model.ServerId;
import io.stele.model.TabletId;

/**
 * What a server says of a tablet that it was to load and could not.
 *
 * @param epoch of the assignment
 * @param failsElsewhere whether the reason lies in the tablet, so that other servers would fail too
 */
record LoadFailure(
    ServerId server, TabletId tablet, long epoch, String reason, boolean failsElsewhere) {}
