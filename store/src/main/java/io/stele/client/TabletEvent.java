package io.stele.client;

import io.stele.model.ServerId;
import java.time.Instant;
import java.util.Optional;

/**
 * Something that happened to a tablet.
 *
 * @param time by the clock of a server
 * @param tablet its id; for events before a split, the id of the upper half
 * @param what in words: assigned, loaded, unloaded, split from another, and so on
 * @param epoch how often the tablet had been assigned
 * @param server the server concerned
 */
public record TabletEvent(
    Instant time, String tablet, String what, long epoch, Optional<ServerId> server) {}
