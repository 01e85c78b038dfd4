package io.stele;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for daemons of tests that stop and start again on their port. They are below those that the
 * kernel gives to whoever connects or asks for any, so nobody takes one meanwhile. Safe for use by
 * any number of threads.
 */
public final class Ports {
  private static final int FIRST = 20_000;
  private static final int COUNT = 10_000;

  // Test processes begin at different places, and no port is given twice.
  private static final AtomicInteger NEXT =
      new AtomicInteger((int) (ProcessHandle.current().pid() * 97 % COUNT));

  private Ports() {}

  /** A port that nobody has now. */
  public static int free() throws IOException {
    for (int i = 0; i < COUNT; i++) {
      int port = FIRST + NEXT.getAndIncrement() % COUNT;
      try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return free.getLocalPort();
      } catch (BindException e) {
        // Somebody has it: the next may be free.
      }
    }
    throw new IOException("no port is free from " + FIRST + " on");
  }
}
