package io.stele.format;

/** One way to compress a block. Safe for use by any number of threads. */
interface BlockCodec {
  /** The most bytes that one compressed byte can expand to. */
  long expansionMax();

  /** The length that the target needs for compressing {@code length} bytes, in the worst case. */
  long roomFor(int length);

  /**
   * Compresses bytes.
   *
   * @param target gets the result, from 0 on; at least {@link #roomFor} long
   * @return the result's length
   */
  int compress(byte[] source, int offset, int length, byte[] target);

  /**
   * Restores what was compressed. Where it throws, {@code target} may hold anything up to {@code
   * rawLength} and is unchanged beyond.
   *
   * @throws MalformedException if the bytes are not the result of compressing {@code rawLength}
   */
  void uncompress(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException;
}
