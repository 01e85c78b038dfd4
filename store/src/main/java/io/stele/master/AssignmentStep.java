package io.stele.master;

import io.stele.model.ServerId;
import io.stele.model.TabletId;

/**
 * One step of the master that brings a tablet to a server, or away from it. Repeating it does no
 * harm.
 *
 * @param kind what to do
 * @param tablet the tablet concerned
 * @param server the server that is to have the tablet, or has it
 */
public record AssignmentStep(Kind kind, TabletId tablet, ServerId server) {
  /** The kinds of step. */
  public enum Kind {
    /**
     * Write into the tablet's record, which names nobody or a fenced server, that the server is to
     * load it.
     */
    ASSIGN,
    /** Ask the server that the record names to load the tablet. */
    LOAD,
    /** Ask the server that has the tablet to give it up, so that another can have it. */
    UNLOAD,
    /** Ask the server that has the tablet to give it up, throwing its data away. */
    DISCARD,
    /** Release the tablet of a dropped table in its record, which names a fenced server. */
    RELEASE
  }
}
