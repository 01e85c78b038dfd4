package io.stele.model;

import java.time.Instant;

/**
 * The calls that add an edit of a row: those of {@link Mutation}, which gives a new mutation each
 * time, and those of {@link Mutation.Builder}, which changes the builder and gives it back.
 *
 * @param <T> what each call gives
 */
public sealed interface RowEdits<T extends RowEdits<T>> permits Mutation, Mutation.Builder {
  /** Adds {@code edit}. */
  T with(Edit edit);

  /**
   * Puts a value whose timestamp the tablet server sets when it applies the write; in bulk output
   * it is the time at which the job was submitted.
   */
  default T put(String family, String qualifier, String value) {
    return put(family, Bytes.of(qualifier), Bytes.of(value));
  }

  /**
   * Puts a value whose timestamp the tablet server sets when it applies the write; in bulk output
   * it is the time at which the job was submitted.
   */
  default T put(String family, String qualifier, byte[] value) {
    return put(family, Bytes.of(qualifier), Bytes.of(value));
  }

  /**
   * Puts a value whose timestamp the tablet server sets when it applies the write; in bulk output
   * it is the time at which the job was submitted.
   */
  default T put(String family, Bytes qualifier, Bytes value) {
    return put(family, qualifier, Edit.SERVER_TIMESTAMP, value);
  }

  /**
   * Puts a value whose timestamp the tablet server sets when it applies the write; in bulk output
   * it is the time at which the job was submitted.
   */
  default T put(String family, String qualifier, Bytes value) {
    return put(family, Bytes.of(qualifier), value);
  }

  /** Puts a value at {@code timestampMicros}. */
  default T put(String family, Bytes qualifier, long timestampMicros, Bytes value) {
    return with(new Edit.Put(family, qualifier, timestampMicros, value));
  }

  /** Puts a value at {@code time}, cut to the microsecond. */
  default T put(String family, String qualifier, Instant time, String value) {
    return put(family, Bytes.of(qualifier), Timestamps.micros(time), Bytes.of(value));
  }

  /** Deletes the version of a column with this timestamp. */
  default T deleteCell(String family, Bytes qualifier, long timestampMicros) {
    return with(new Edit.DeleteCell(family, qualifier, timestampMicros));
  }

  /** Deletes every version of a column. */
  default T deleteColumn(String family, Bytes qualifier) {
    return deleteColumn(family, qualifier, TimeRange.ALL);
  }

  /** Deletes every version of a column. */
  default T deleteColumn(String family, String qualifier) {
    return deleteColumn(family, Bytes.of(qualifier));
  }

  /** Deletes the versions of a column within {@code range}. */
  default T deleteColumn(String family, Bytes qualifier, TimeRange range) {
    return with(new Edit.DeleteColumn(family, qualifier, range));
  }

  /** Deletes everything the row has in {@code family}. */
  default T deleteFamily(String family) {
    return with(new Edit.DeleteFamily(family));
  }

  /** Deletes the row. */
  default T deleteRow() {
    return with(new Edit.DeleteRow());
  }
}
