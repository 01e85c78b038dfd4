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

  private final int code;

  BlockKind(int code) {
    this.code = code;
  }

  /** Its number in the file. */
  int code() {
    return code;
  }

  static Optional<BlockKind> ofCode(int code) {
    return code >= 1 && code <= VALUES.length ? Optional.of(VALUES[code - 1]) : Optional.empty();
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
