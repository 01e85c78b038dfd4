package io.stele.yarn;

/** Stands in for a component that finds its configuration wrong. */
final class RefusingPlaceholder {
  private RefusingPlaceholder() {}

  public static void main(String[] args) {
    System.err.println("stele.some.key has the value \"blue\": it takes 1 to 7");
    System.exit(1);
  }
}
