package io.stele.sstable;

import java.util.Locale;
import java.util.Optional;

/** What a block of an SSTable holds. */
enum BlockKind {
  DATA(1),
  INDEX(2),
  BLOOM(3),
  BLOOM_INDEX(4),
  PROPERTIES(5),
  META(6);

  private static final BlockKind[] VALUES = values();

  /**
   * Limit for blocks that Stele makes itself; the size of data and meta blocks depends on what is
   * put into them.
   */
  private static final int OWN_BYTES_MAX = 64 << 20;

  /** The properties have two keys, each of a row, a family and a qualifier, and a schema. */
  private static final int PROPERTIES_BYTES_MAX = 1 << 20;

  private final int code;

  BlockKind(int code) {
    this.code = code;
  }

  /** Its number in the file. */
  int code() {
    return code;
  }

  /**
   * The most bytes that the contents of such a block can have: a block whose header says more is
   * damaged.
   */
  int contentsBytesMax() {
    return switch (this) {
      case DATA, META -> SSTableFormat.CONTENTS_BYTES_MAX;
      case INDEX, BLOOM, BLOOM_INDEX -> OWN_BYTES_MAX;
      case PROPERTIES -> PROPERTIES_BYTES_MAX;
    };
  }

  static Optional<BlockKind> ofCode(int code) {
    return code >= 1 && code <= VALUES.length ? Optional.of(VALUES[code - 1]) : Optional.empty();
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
