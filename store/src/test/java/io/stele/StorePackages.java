package io.stele;

import java.util.List;

/** The packages of the store, for the tests that check who may import which. */
public final class StorePackages {
  /** From the bottom up: a package never imports a later one. */
  public static final List<String> NAMES =
      List.of(
          "model",
          "config",
          "runtime",
          "web",
          "files",
          "format",
          "record",
          "sstable",
          "log",
          "memtable",
          "tablet",
          "lock",
          "wire",
          "metadata",
          "client",
          "direct",
          "bulk",
          "tabletserver",
          "master",
          "check",
          "sim");

  private StorePackages() {}
}
