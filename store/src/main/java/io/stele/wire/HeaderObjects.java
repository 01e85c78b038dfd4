package io.stele.wire;

import java.io.IOException;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.Descriptor;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.FieldDescriptor;
import org.apache.hadoop.thirdparty.protobuf.WireFormat;

/**
 * Estimates what memory the objects of a message take when it is decoded, beside their contents,
 * without decoding it: a message of two bytes becomes an object, and there may be millions.
 */
final class HeaderObjects {
  /** Memory of a message: its object, and its place in a list. */
  private static final int MESSAGE_BYTES = 64;

  /** Memory of any other field: the objects of a byte string. */
  private static final int FIELD_BYTES = 40;

  /** Of a number in a packed list, which may have one byte when encoded. */
  private static final int NUMBER_BYTES = 8;

  private static final int DEPTH_MAX = 100; // As protobuf's own.

  private HeaderObjects() {}

  /**
   * The bytes of the objects of a message of type {@code type}, which is all that {@code in} has.
   *
   * @throws IOException if it cannot be decoded
   */
  static long bytes(CodedInputStream in, Descriptor type) throws IOException {
    return bytes(in, type, 0);
  }

  private static long bytes(CodedInputStream in, Descriptor type, int depth) throws IOException {
    if (depth > DEPTH_MAX) {
      throw new IOException("messages are nested more than " + DEPTH_MAX + " deep");
    }
    long bytes = MESSAGE_BYTES;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
      boolean delimited = WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
      if (!delimited || field == null) {
        bytes += FIELD_BYTES;
        in.skipField(tag);
      } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
        int outer = in.pushLimit(in.readRawVarint32());
        bytes += bytes(in, field.getMessageType(), depth + 1);
        in.popLimit(outer);
      } else {
        int length = in.readRawVarint32();
        bytes += field.isPackable() ? (long) NUMBER_BYTES * length : FIELD_BYTES;
        in.skipRawBytes(length);
      }
    }
    return bytes;
  }
}
