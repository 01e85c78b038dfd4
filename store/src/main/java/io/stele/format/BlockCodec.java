package io.stele.format;

/** One way to compress a block. Safe for use by any number of threads. */
interface BlockCodec {
  /** The most bytes that one compressed byte can stand for. */
  long expansionMax();

  /** The length that compressing {@code length} bytes needs in the target, at the worst. */
  long roomFor(int length);

  /**
   * Compresses bytes.
   *
   * @param target gets the result, from 0 on; at least {@link #roomFor} long
   * @return the result's length
   */
  int compress(byte[] source, int offset, int length, byte[] target);

  /**
   * Gives back what was compressed. May write anything to {@code target} where it throws, but
   * nothing beyond {@code rawLength}.
   *
   * @throws MalformedException where the bytes are not the result of compressing {@code rawLength}
   */
  void uncompress(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException;
}
