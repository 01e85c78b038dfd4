package io.stele.yarn;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The beginning of the SHA-256 of what was added, in hexadecimal digits: short enough for a name,
 * long enough that no two are alike. Not thread-safe.
 */
final class ContentHash {
  private static final int BYTES = 8;

  private final MessageDigest digest = sha256();

  /** Adds a text, so that it cannot be taken for a part of its neighbours. */
  ContentHash add(String text) {
    digest.update(text.getBytes(StandardCharsets.UTF_8));
    digest.update((byte) 0);
    return this;
  }

  /** Adds all that is left to read. */
  ContentHash add(InputStream in) throws IOException {
    byte[] buffer = new byte[1 << 16];
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      digest.update(buffer, 0, n);
    }
    return this;
  }

  /** The digits. Nothing may be added afterwards. */
  String digits() {
    return HexFormat.of().formatHex(digest.digest(), 0, BYTES);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e); // Every Java has it.
    }
  }
}
