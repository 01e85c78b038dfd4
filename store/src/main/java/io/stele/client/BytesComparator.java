package io.stele.client;

import io.stele.model.Bytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.WritableUtils;

/** Compares {@link Bytes} as {@link ModelSerialization} writes them, without reading them back. */
final class BytesComparator implements RawComparator<Bytes> {
  @Override
  public int compare(byte[] a, int aStart, int aLength, byte[] b, int bStart, int bLength) {
    int aHead = WritableUtils.decodeVIntSize(a[aStart]);
    int bHead = WritableUtils.decodeVIntSize(b[bStart]);
    int aFrom = aStart + aHead;
    int bFrom = bStart + bHead;
    return Arrays.compareUnsigned(
        a, aFrom, aFrom + length(a, aStart), b, bFrom, bFrom + length(b, bStart));
  }

  @Override
  public int compare(Bytes a, Bytes b) {
    return a.compareTo(b);
  }

  private static int length(byte[] bytes, int start) {
    try {
      return WritableComparator.readVInt(bytes, start);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
