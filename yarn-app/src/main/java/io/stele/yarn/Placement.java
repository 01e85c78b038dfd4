package io.stele.yarn;

/** Where a container is asked for. */
sealed interface Placement {
  /** On this node and no other. */
  record OnNode(String node) implements Placement {
    @Override
    public String toString() {
      return "on " + node;
    }
  }

  /** On any node: asked for when the preferred ones have no room. */
  record Anywhere() implements Placement {
    @Override
    public String toString() {
      return "on any node";
    }
  }
}
