package io.stele.yarn;

/** Stands in for a master or a tablet server: runs until it is killed. */
final class Placeholder {
  private Placeholder() {}

  public static void main(String[] args) throws InterruptedException {
    Thread.sleep(Long.MAX_VALUE);
  }

  /** Stands in for a component that finds its configuration wrong. */
  static final class Refusing {
    private Refusing() {}

    public static void main(String[] args) {
      System.err.println("stele.some.key has the value \"blue\": it takes 1 to 7");
      System.exit(1);
    }
  }
}
