package io.stele.format;

import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import io.stele.model.TimeRange;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Tells a retry from another operation of the same id: a checksum over everything the operation
 * says, and how many bytes that were.
 *
 * <p>Digests are kept in logs and SSTables. What goes into one is therefore written out here, a
 * number for each kind of operation, edit and filter and then its fields: a number once given
 * stays. Any change makes retries over an upgrade look like other operations, so the first byte is
 * a version.
 */
public final class OperationDigest {
  private static final int VERSION = 2;

  /** More bytes than this are not copied to be added together with what comes before them. */
  private static final int COPIED_MAX = 64;

  private final CRC32C crc = new CRC32C();

  /** What comes next; added to the checksum at once, as each addition has a cost of its own. */
  private final ByteWriter next = new ByteWriter(64);

  private long length;

  private OperationDigest() {}

  /** The digest of an operation. */
  public static Bytes of(RowOperation operation) {
    OperationDigest digest = new OperationDigest();
    digest.add(operation);
    digest.addNext();
    return Bytes.wrap(
        new ByteWriter(13)
            .writeByte(VERSION)
            .writeInt((int) digest.crc.getValue())
            .writeLong(digest.length)
            .toByteArray());
  }

  /** A digest in eight bytes, for what is kept for long: FNV-1a. */
  public static long folded(Bytes digest) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < digest.length(); i++) {
      hash = (hash ^ (digest.at(i) & 0xff)) * 0x100000001b3L;
    }
    return hash;
  }

  private void add(RowOperation operation) {
    bytes(operation.row());
    switch (operation.kind()) {
      case MUTATION -> {
        number(1);
        edits((Mutation) operation);
      }
      case CHECK_AND_MUTATE -> {
        CheckAndMutate check = (CheckAndMutate) operation;
        number(2);
        filter(check.predicate());
        edits(check.ifTrue());
        edits(check.ifFalse());
      }
      case READ_MODIFY_WRITE -> {
        ReadModifyWrite change = (ReadModifyWrite) operation;
        number(3);
        number(change.rules().size());
        change.rules().forEach(this::rule);
      }
    }
  }

  private void rule(ReadModifyWrite.Rule rule) {
    column(rule.family(), rule.qualifier());
    switch (rule.kind()) {
      case APPEND -> {
        number(1);
        bytes(((ReadModifyWrite.Append) rule).suffix());
      }
      case INCREMENT -> {
        number(2);
        number(((ReadModifyWrite.Increment) rule).amount());
      }
    }
  }

  private void edits(Mutation mutation) {
    number(mutation.edits().size());
    mutation.edits().forEach(this::edit);
  }

  private void edit(Edit edit) {
    switch (edit.kind()) {
      case PUT -> {
        Edit.Put put = (Edit.Put) edit;
        number(1);
        column(put.family(), put.qualifier());
        number(put.timestampMicros());
        bytes(put.value());
      }
      case DELETE_CELL -> {
        Edit.DeleteCell delete = (Edit.DeleteCell) edit;
        number(2);
        column(delete.family(), delete.qualifier());
        number(delete.timestampMicros());
      }
      case DELETE_COLUMN -> {
        Edit.DeleteColumn delete = (Edit.DeleteColumn) edit;
        number(3);
        column(delete.family(), delete.qualifier());
        times(delete.range());
      }
      case DELETE_FAMILY -> {
        number(4);
        text(((Edit.DeleteFamily) edit).family());
      }
      case DELETE_ROW -> number(5);
    }
  }

  private void filter(Filter filter) {
    switch (filter.kind()) {
      case PASS_ALL -> number(1);
      case BLOCK_ALL -> number(2);
      case ROW_KEY_REGEX -> regex(3, ((Filter.RowKeyRegex) filter).pattern());
      case ROW_SAMPLE -> {
        number(4);
        number(Double.doubleToLongBits(((Filter.RowSample) filter).probability()));
      }
      case FAMILY_REGEX -> regex(5, ((Filter.FamilyRegex) filter).pattern());
      case QUALIFIER_REGEX -> regex(6, ((Filter.QualifierRegex) filter).pattern());
      case COLUMN_RANGE -> {
        Filter.ColumnRange range = (Filter.ColumnRange) filter;
        number(7);
        column(range.family(), range.start());
        bytes(range.end());
      }
      case COLUMN_IS -> {
        Column column = ((Filter.ColumnIs) filter).column();
        number(8);
        column(column.family(), column.qualifier());
      }
      case VALUE_REGEX -> regex(9, ((Filter.ValueRegex) filter).pattern());
      case VALUE_RANGE -> {
        Filter.ValueRange range = (Filter.ValueRange) filter;
        number(10);
        bytes(range.start());
        bytes(range.end());
      }
      case VALUE_IS -> {
        number(11);
        bytes(((Filter.ValueIs) filter).value());
      }
      case TIMESTAMP_RANGE -> {
        number(12);
        times(((Filter.TimestampRange) filter).range());
      }
      case CELLS_PER_ROW_LIMIT -> count(13, ((Filter.CellsPerRowLimit) filter).count());
      case CELLS_PER_ROW_OFFSET -> count(14, ((Filter.CellsPerRowOffset) filter).count());
      case CELLS_PER_COLUMN_LIMIT -> count(15, ((Filter.CellsPerColumnLimit) filter).count());
      case STRIP_VALUE -> number(16);
      case LABEL -> {
        number(17);
        text(((Filter.Label) filter).label());
      }
      case CHAIN -> filters(18, ((Filter.Chain) filter).filters());
      case INTERLEAVE -> filters(19, ((Filter.Interleave) filter).filters());
      case CONDITION -> {
        Filter.Condition condition = (Filter.Condition) filter;
        number(20);
        filter(condition.predicate());
        filter(condition.ifTrue());
        filter(condition.ifFalse());
      }
    }
  }

  private void filters(int tag, List<Filter> filters) {
    number(tag);
    number(filters.size());
    filters.forEach(this::filter);
  }

  private void regex(int tag, String pattern) {
    number(tag);
    text(pattern);
  }

  private void count(int tag, int count) {
    number(tag);
    number(count);
  }

  private void times(TimeRange range) {
    number(range.fromMicros());
    number(range.toMicros());
  }

  private void text(String text) {
    bytes(Bytes.of(text));
  }

  private void column(String family, Bytes qualifier) {
    text(family);
    bytes(qualifier);
  }

  private void number(long number) {
    next.writeVarlong(number);
  }

  private void bytes(Bytes bytes) {
    number(bytes.length());
    if (bytes.length() <= COPIED_MAX) {
      next.write(bytes);
    } else {
      addNext();
      bytes.addTo(crc);
      length += bytes.length();
    }
  }

  private void addNext() {
    crc.update(next.array(), 0, next.size());
    length += next.size();
    next.clear();
  }
}
