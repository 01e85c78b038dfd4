package io.stele.sim.check;

/**
 * Something a checker found wrong.
 *
 * @param checker the checker's name
 * @param text what is wrong, and which calls, rows or files show it
 */
public record Violation(String checker, String text) {
  @Override
  public String toString() {
    return checker + ": " + text;
  }
}
