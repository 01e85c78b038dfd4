package io.stele.sim;

/**
 * A simulation could not continue: all tasks wait for each other, or a callback would have to wait.
 */
public final class SimulationFailure extends Error {
  private static final long serialVersionUID = 1L;

  SimulationFailure(String message) {
    super(message);
  }
}
