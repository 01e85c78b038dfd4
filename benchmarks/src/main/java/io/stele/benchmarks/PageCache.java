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
  /** More than this takes longer than the first use of the pages that it would spare. */
  private static final long BYTES_MAX = 2L << 30;

  private PageCache() {}

  /**
   * Makes sure that the next job has so many bytes of pages that were used before, at most 2 GiB.
   */
  static void warm(long bytes) throws IOException {
    Path scratch = Files.createTempFile("stele-pages", "");
    byte[] megabyte = new byte[1 << 20];
    try (OutputStream out = Files.newOutputStream(scratch)) {
      for (long left = Math.min(bytes, BYTES_MAX); left > 0; left -= megabyte.length) {
        out.write(megabyte);
      }
    } finally {
      Files.delete(scratch);
    }
  }
}
