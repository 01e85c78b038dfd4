package io.stele.master;

import io.stele.model.ServerId;
import io.stele.model.TabletId;

/** One action of the master. Repeating it does no harm. */
public sealed interface Action {
  /** The kinds of action. */
  enum Kind {
    ASSIGN,
    LOAD,
    UNLOAD,
    DISCARD,
    RELEASE
  }

  /** Which kind of action this is: a switch over it names them all. */
  Kind kind();

  /** The tablet concerned. */
  TabletId tablet();

  /** The server that is to have the tablet, or has it. */
  ServerId server();

  /**
   * Write into the tablet's record, which names nobody or a fenced server, that {@code server} is
   * to load it.
   */
  record Assign(TabletId tablet, ServerId server) implements Action {
    @Override
    public Kind kind() {
      return Kind.ASSIGN;
    }
  }

  /** Ask the server that the record names to load the tablet. */
  record Load(TabletId tablet, ServerId server) implements Action {
    @Override
    public Kind kind() {
      return Kind.LOAD;
    }
  }

  /** Ask the server that has the tablet to give it up, so that another can have it. */
  record Unload(TabletId tablet, ServerId server) implements Action {
    @Override
    public Kind kind() {
      return Kind.UNLOAD;
    }
  }

  /** Ask the server that has the tablet to give it up, throwing its data away. */
  record Discard(TabletId tablet, ServerId server) implements Action {
    @Override
    public Kind kind() {
      return Kind.DISCARD;
    }
  }

  /** Release the tablet of a dropped table in its record, which names a fenced server. */
  record Release(TabletId tablet, ServerId server) implements Action {
    @Override
    public Kind kind() {
      return Kind.RELEASE;
    }
  }
}
