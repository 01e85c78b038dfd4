package io.stele.yarn;

/** One step that {@link Planner} wants taken. */
sealed interface Action {
  /** The kinds of action. */
  enum Kind {
    REQUEST,
    CANCEL,
    LAUNCH,
    CHECK,
    DRAIN,
    STOP,
    RELEASE,
    RANK_SERVERS,
    FINISH,
    GIVE_UP
  }

  /** Which kind of action this is: a switch over it names them all. */
  Kind kind();

  /** Ask the ResourceManager for a container. */
  record Request(Ask ask) implements Action {
    @Override
    public Kind kind() {
      return Kind.REQUEST;
    }
  }

  /** Take an ask back. */
  record Cancel(Ask ask) implements Action {
    @Override
    public Kind kind() {
      return Kind.CANCEL;
    }
  }

  /** Start the slot's process in a container. */
  record Launch(HeldContainer container) implements Action {
    @Override
    public Kind kind() {
      return Kind.LAUNCH;
    }
  }

  /** Ask a container's node what the container does. */
  record Check(HeldContainer container) implements Action {
    @Override
    public Kind kind() {
      return Kind.CHECK;
    }
  }

  /** Ask the process to give its work away and end. */
  record Drain(HeldContainer container) implements Action {
    @Override
    public Kind kind() {
      return Kind.DRAIN;
    }
  }

  /** Tell the node to kill the process. */
  record Stop(HeldContainer container) implements Action {
    @Override
    public Kind kind() {
      return Kind.STOP;
    }
  }

  /** Give the container back to the ResourceManager, which has it killed if it runs. */
  record Release(HeldContainer container) implements Action {
    @Override
    public Kind kind() {
      return Kind.RELEASE;
    }
  }

  /** Find out in which order the tablet servers are to end. */
  record RankServers() implements Action {
    @Override
    public Kind kind() {
      return Kind.RANK_SERVERS;
    }
  }

  /** All is down as asked: end the application. */
  record Finish() implements Action {
    @Override
    public Kind kind() {
      return Kind.FINISH;
    }
  }

  /** It cannot work: end the application as failed, and say why. */
  record GiveUp(String reason) implements Action {
    @Override
    public Kind kind() {
      return Kind.GIVE_UP;
    }
  }
}
