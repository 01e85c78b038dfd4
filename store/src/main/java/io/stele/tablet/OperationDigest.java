package io.stele.tablet;

import io.stele.format.ByteWriter;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import java.util.zip.CRC32C;

/**
 * By what a retry is told from another operation of the same id: a checksum over everything the
 * operation says, and how many bytes that were.
 *
 * <p>Its bytes are kept in logs and SSTables: changing what goes in makes retries over an upgrade
 * look like other operations, so the first byte is a version.
 */
final class OperationDigest {
  private static final int VERSION = 1;

  private final CRC32C crc = new CRC32C();
  private final ByteWriter small = new ByteWriter(64);
  private long length;

  private OperationDigest() {}

  static Bytes of(RowOperation operation) {
    OperationDigest digest = new OperationDigest();
    digest.add(operation);
    return Bytes.wrap(
        new ByteWriter(13)
            .writeByte(VERSION)
            .writeInt((int) digest.crc.getValue())
            .writeLong(digest.length)
            .toByteArray());
  }

  /** A digest in eight bytes, for what is kept for long: FNV-1a. */
  static long folded(Bytes digest) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < digest.length(); i++) {
      hash = (hash ^ (digest.at(i) & 0xff)) * 0x100000001b3L;
    }
    return hash;
  }

  private void add(RowOperation operation) {
    bytes(operation.row());
    if (operation instanceof Mutation mutation) {
      number(1);
      edits(mutation);
    } else if (operation instanceof CheckAndMutate check) {
      number(2);
      bytes(Bytes.of(check.predicate().toString()));
      edits(check.ifTrue());
      edits(check.ifFalse());
    } else if (operation instanceof ReadModifyWrite change) {
      number(3);
      number(change.rules().size());
      for (ReadModifyWrite.Rule rule : change.rules()) {
        column(rule.family(), rule.qualifier());
        if (rule instanceof ReadModifyWrite.Append append) {
          number(1);
          bytes(append.suffix());
        } else if (rule instanceof ReadModifyWrite.Increment increment) {
          number(2);
          number(increment.amount());
        }
      }
    }
  }

  private void edits(Mutation mutation) {
    number(mutation.edits().size());
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put) {
        number(1);
        column(put.family(), put.qualifier());
        number(put.timestampMicros());
        bytes(put.value());
      } else if (edit instanceof Edit.DeleteCell delete) {
        number(2);
        column(delete.family(), delete.qualifier());
        number(delete.timestampMicros());
      } else if (edit instanceof Edit.DeleteColumn delete) {
        number(3);
        column(delete.family(), delete.qualifier());
        number(delete.range().fromMicros());
        number(delete.range().toMicros());
      } else if (edit instanceof Edit.DeleteFamily delete) {
        number(4);
        bytes(Bytes.of(delete.family()));
      } else {
        number(5);
      }
    }
  }

  private void column(String family, Bytes qualifier) {
    bytes(Bytes.of(family));
    bytes(qualifier);
  }

  private void number(long number) {
    small.clear();
    small.writeVarlong(number);
    crc.update(small.array(), 0, small.size());
    length += small.size();
  }

  private void bytes(Bytes bytes) {
    number(bytes.length());
    crc.update(bytes.asByteBuffer());
    length += bytes.length();
  }
}
