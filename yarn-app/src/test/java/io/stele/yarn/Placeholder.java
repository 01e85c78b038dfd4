package io.stele.yarn;

/** Stands in for a master or a tablet server: runs until it is killed. */
final class Placeholder {
  private Placeholder() {}

  public static void main(String[] args) throws InterruptedException {
    Thread.sleep(Long.MAX_VALUE);
  }
}
