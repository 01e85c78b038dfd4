package io.stele.benchmarks;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The memory in which the operating system keeps files. On a virtual machine the first use of a
 * page takes several times as long as the next ones, as the host has yet to find memory for it. A
 * job that follows another which deleted its files gets used pages, and writes faster than one that
 * follows a job which left its files behind.
 */
final class PageCache {
  private static final int MEGABYTES = 1500;

  private PageCache() {}

  /** Makes sure that the next job can write for a while to pages that were used before. */
  static void warm() throws IOException {
    Path scratch = Files.createTempFile("stele-pages", "");
    byte[] megabyte = new byte[1 << 20];
    try (OutputStream out = Files.newOutputStream(scratch)) {
      for (int i = 0; i < MEGABYTES; i++) {
        out.write(megabyte);
      }
    } finally {
      Files.delete(scratch);
    }
  }
}
