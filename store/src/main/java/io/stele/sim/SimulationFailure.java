package io.stele.sim;

/** A simulation could not go on: all wait for each other, or a callback would have to wait. */
public final class SimulationFailure extends Error {
  private static final long serialVersionUID = 1L;

  SimulationFailure(String message) {
    super(message);
  }
}
