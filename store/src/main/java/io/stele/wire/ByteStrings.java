package io.stele.wire;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.UnsafeByteOperations;

/** The model's byte strings as protobuf's, and back. */
public final class ByteStrings {
  private ByteStrings() {}

  /** Shares the memory of {@code bytes}. */
  public static ByteString of(Bytes bytes) {
    return UnsafeByteOperations.unsafeWrap(bytes.asByteBuffer());
  }

  /** Copies {@code bytes}, so that no message is kept alive. */
  public static Bytes bytes(ByteString bytes) {
    return Bytes.wrap(bytes.toByteArray());
  }

  /**
   * The rows from {@code start} to before {@code end}; an empty {@code end} means to the last row.
   * Copies both.
   *
   * @throws SteleException REFUSED if {@code end} is before {@code start}
   */
  public static RowRange range(ByteString start, ByteString end) {
    return new RowRange(bytes(start), bytes(end));
  }
}
