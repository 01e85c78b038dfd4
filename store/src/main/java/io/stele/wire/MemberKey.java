package io.stele.wire;

import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that a cluster's members, its masters and tablet servers, share. It distinguishes
 * members from clients.
 *
 * <p>It never leaves its process, and is not in {@link #toString}. A member proves that it has the
 * key by an HMAC over the random numbers that both sides of a connection drew. Immutable.
 */
public final class MemberKey {
  /** Bytes of a key, of what each side draws, and of a proof. */
  static final int BYTES = 32;

  private static final String ALGORITHM = "HmacSHA256";

  private final byte[] secret;

  /** Who proves it: one side's proof is none of the other's. */
  enum Side {
    CLIENT("stele data plane, client"),
    SERVER("stele data plane, server");

    private final String label;

    Side(String label) {
      this.label = label;
    }
  }

  private MemberKey(byte[] secret) {
    this.secret = secret;
  }

  /** A new key. */
  public static MemberKey draw(RandomGenerator random) {
    return new MemberKey(drawBytes(random));
  }

  static byte[] drawBytes(RandomGenerator random) {
    byte[] drawn = new byte[BYTES];
    random.nextBytes(drawn);
    return drawn;
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @throws IllegalArgumentException where it is something else; does not say what it is
   */
  public static MemberKey decode(String hex) {
    if (hex.length() != 2 * BYTES || !hex.chars().allMatch(HexFormat::isHexDigit)) {
      throw new IllegalArgumentException("a member key is " + 2 * BYTES + " hexadecimal digits");
    }
    return new MemberKey(HexFormat.of().parseHex(hex));
  }

  /** The secret itself, to be kept where only members read it. */
  public String encode() {
    return HexFormat.of().formatHex(secret);
  }

  /**
   * The proof of {@code side} that it has the key, on the connection for which these were drawn.
   */
  byte[] proof(Side side, byte[] drawnByClient, byte[] drawnByServer) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      mac.update(side.label.getBytes(StandardCharsets.US_ASCII));
      mac.update(drawnByClient);
      return mac.doFinal(drawnByServer);
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("each Java runtime has " + ALGORITHM, e);
    }
  }

  /** Whether {@code proof} is that of {@code side}; takes as long for each wrong one. */
  boolean isProof(byte[] proof, Side side, byte[] drawnByClient, byte[] drawnByServer) {
    return MessageDigest.isEqual(proof, proof(side, drawnByClient, drawnByServer));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof MemberKey key && MessageDigest.isEqual(secret, key.secret);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(secret);
  }

  @Override
  public String toString() {
    return "a member's key";
  }
}
