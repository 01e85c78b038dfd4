package io.stele.yarn;

/** One step that {@link Planner} wants taken. */
sealed interface Action {
  /** Ask the ResourceManager for a container. */
  record Request(Ask ask) implements Action {}

  /** Take an ask back. */
  record Cancel(Ask ask) implements Action {}

  /** Start the slot's process in a container. */
  record Launch(HeldContainer container) implements Action {}

  /** Ask a container's node what the container does. */
  record Check(HeldContainer container) implements Action {}

  /** Ask the process to give its work away and end. */
  record Drain(HeldContainer container) implements Action {}

  /** Have the node kill the process. */
  record Stop(HeldContainer container) implements Action {}

  /** Give the container back to the ResourceManager, which has it killed if it runs. */
  record Release(HeldContainer container) implements Action {}

  /** Find out in which order the tablet servers are to end. */
  record RankServers() implements Action {}

  /** All is down as asked: end the application. */
  record Finish() implements Action {}

  /** It cannot work: end the application as failed, and say why. */
  record GiveUp(String reason) implements Action {}
}
