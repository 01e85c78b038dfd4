package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.runtime.MemoryClaim;
import java.nio.charset.StandardCharsets;

/**
 * Bytes as the text that a regular expression is matched against: the characters U+0000 to U+00FF,
 * without a copy. A match of many states takes long for each character, so the text asks whether
 * anybody still waits as its characters are read. Not safe for use by several threads.
 */
final class MatchedText implements CharSequence {
  /** A character may take 20,000 steps of a pattern: these a few hundredths of a second. */
  private static final int CHARS_BETWEEN_CHECKS = 64;

  private final Bytes bytes;
  private final MemoryClaim claim;
  private int charsUntilCheck; // So the first one checks: there may be many short texts.

  MatchedText(Bytes bytes, MemoryClaim claim) {
    this.bytes = bytes;
    this.claim = claim;
  }

  @Override
  public int length() {
    return bytes.length();
  }

  @Override
  public char charAt(int index) {
    if (--charsUntilCheck < 0) {
      charsUntilCheck = CHARS_BETWEEN_CHECKS;
      claim.requireWanted();
    }
    return (char) bytes.at(index);
  }

  @Override
  public CharSequence subSequence(int start, int end) {
    return new MatchedText(bytes.slice(start, end), claim);
  }

  @Override
  public String toString() {
    return new String(bytes.toByteArray(), StandardCharsets.ISO_8859_1);
  }
}
