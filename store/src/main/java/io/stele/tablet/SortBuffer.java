package io.stele.tablet;

import io.stele.format.ByteWriter;
import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.CellCursor;
import io.stele.format.MutationBlock;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.OperationSize;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.PendingFile;
import io.stele.record.PutTimestamps;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.util.IndexedSortable;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.QuickSort;

/**
 * Mutations that come in any order, kept in memory until they are sorted by row and written. The
 * mutations of one row stay in the order in which they came: they are one change.
 *
 * <p>A mutation is a record in one of a few large arrays:
 *
 * <pre>
 * record := row-length:4 cells-length:4 edits:4 size:4 row cells
 * cells  := a block as MutationBlock writes it
 * </pre>
 *
 * What is sorted are the numbers of the records, by eight bytes of the row first: those after the
 * prefix that all rows share. So the records themselves are rarely touched. Not safe for use by
 * several threads.
 */
public final class SortBuffer {
  /**
   * Less than half of the smallest region of G1, which gives larger arrays regions of their own.
   */
  private static final int CHUNK_BYTES = 256 << 10;

  /** A larger record has its own array, so that at most a quarter of a chunk is wasted. */
  private static final int SHARED_BYTES_MAX = CHUNK_BYTES / 4;

  private static final int CELLS_LENGTH = 4;
  private static final int EDITS = 8;
  private static final int SIZE = 12;
  private static final int HEADER_BYTES = 16;

  /**
   * The memory that the order takes for each record: its address, another copy of it while the
   * array of addresses grows, its place in the order, and bytes of its row.
   */
  private static final int INDEX_BYTES = Long.BYTES + Long.BYTES + Integer.BYTES + Long.BYTES;

  private static final int ADDRESSES_MIN = 1024;
  private static final int ARRAY_BYTES = 24; // Header, and up to a multiple of eight.
  private static final int BLOCK_BYTES = 1024;
  private static final int ROWS_OF_PROGRESS = 1000;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final SchemaRules rules;
  private final PutTimestamps timestamps;
  private final long valueBytesMax;
  private final CellBlockWriter block = CellBlockWriter.sequential(BLOCK_BYTES);
  private final List<byte[]> chunks = new ArrayList<>();
  private int current = -1; // The shared chunk that records go to.
  private int used;
  private long chunkBytes;

  // Chunk and offset of each record, as they came.
  private long[] addresses = new long[ADDRESSES_MIN];
  private int count;
  private Bytes firstRow = Bytes.EMPTY;
  private Bytes lastRow = Bytes.EMPTY;
  private int common; // How many bytes all rows begin with.
  private boolean inOrder = true;

  /**
   * An empty buffer.
   *
   * @param timestamps of puts that have none
   * @param valueBytesMax the longest value that the table takes
   */
  public SortBuffer(TableSchema schema, PutTimestamps timestamps, long valueBytesMax) {
    this.rules = new SchemaRules(schema);
    this.timestamps = timestamps;
    this.valueBytesMax = valueBytesMax;
  }

  /**
   * Adds a mutation, which is copied.
   *
   * @throws SteleException REFUSED if the schema or a limit forbids it
   */
  public void add(Mutation mutation) {
    rules.operations().check(mutation, valueBytesMax);
    long size = OperationSize.of(mutation);
    Limits.checkMutationBytes(mutation.row(), size);
    block.clear(); // The one before may have failed.
    long timestamp = timestamps.at(mutation.row());
    MutationBlock.write(mutation, PendingFile.UNNUMBERED, timestamp, block);
    ByteWriter cells = block.finish();
    put(mutation.row(), cells, mutation.edits().size(), (int) size);
    keepOrder(mutation.row());
  }

  private void put(Bytes row, ByteWriter cells, int edits, int size) {
    long address = room(HEADER_BYTES + row.length() + cells.size());
    byte[] chunk = chunk(address);
    int at = offset(address);
    INT.set(chunk, at, row.length());
    INT.set(chunk, at + CELLS_LENGTH, cells.size());
    INT.set(chunk, at + EDITS, edits);
    INT.set(chunk, at + SIZE, size);
    row.copyTo(chunk, at + HEADER_BYTES);
    System.arraycopy(cells.array(), 0, chunk, at + HEADER_BYTES + row.length(), cells.size());
    if (count == addresses.length) {
      addresses = Arrays.copyOf(addresses, count * 2);
    }
    addresses[count++] = address;
  }

  /** Takes so many bytes, side by side. */
  private long room(int bytes) {
    if (bytes > SHARED_BYTES_MAX) {
      return (long) addChunk(bytes) << Integer.SIZE;
    }
    if (current < 0 || bytes > CHUNK_BYTES - used) {
      current = addChunk(CHUNK_BYTES);
      used = 0;
    }
    long address = (long) current << Integer.SIZE | used;
    used += bytes;
    return address;
  }

  private int addChunk(int bytes) {
    chunks.add(new byte[bytes]);
    chunkBytes += bytes + ARRAY_BYTES;
    return chunks.size() - 1;
  }

  private void keepOrder(Bytes row) {
    if (count == 1) {
      firstRow = row;
      common = row.length();
    } else {
      common = commonBytes(row);
      inOrder &= lastRow.compareTo(row) <= 0;
    }
    lastRow = row;
  }

  private int commonBytes(Bytes row) {
    int same = 0;
    while (same < common && same < row.length() && row.at(same) == firstRow.at(same)) {
      same++;
    }
    return same;
  }

  /** How many bytes of heap it takes, with what sorting needs; while it is empty, few. */
  public long bytes() {
    return chunkBytes + (long) addresses.length * INDEX_BYTES;
  }

  /** Whether there is nothing to write. */
  public boolean isEmpty() {
    return count == 0;
  }

  /**
   * Writes all in the order of rows, and empties the buffer.
   *
   * @param writer a new one for the same table
   * @param progress is told now and then that this goes on
   * @throws SteleException REFUSED if a row gets more bytes in all than one mutation may have
   */
  public void writeTo(JobFileWriter writer, Progressable progress) throws IOException {
    Order order = new Order();
    if (!inOrder) {
      order.sort(progress);
    }
    int rows = 0;
    int from = 0;
    while (from < count) {
      int to = from + 1;
      while (to < count && order.isSameRow(from, to)) {
        to++;
      }
      writeRow(writer, order, from, to);
      from = to;
      if (++rows % ROWS_OF_PROGRESS == 0) {
        progress.progress();
      }
    }
    clear();
  }

  private void writeRow(JobFileWriter writer, Order order, int from, int to) throws IOException {
    long first = addresses[order.record(from)];
    int rowAt = offset(first) + HEADER_BYTES;
    Bytes row = Bytes.wrap(chunk(first), rowAt, rowLength(first));
    if (to == from + 1) {
      writer.addRow(row, chunk(first), rowAt + row.length(), intAt(first, CELLS_LENGTH));
      return;
    }
    long size = 0;
    int edits = 0;
    List<CellCursor> changes = new ArrayList<>();
    for (int i = from; i < to; i++) {
      long address = addresses[order.record(i)];
      changes.add(new LaterEdits(cells(address), edits));
      size += intAt(address, SIZE);
      edits += intAt(address, EDITS);
      Limits.checkMutationBytes(row, size);
    }
    writer.addRow(row, changes);
  }

  private CellBlockCursor cells(long address) {
    return CellBlockCursor.sequential(
        chunk(address),
        offset(address) + HEADER_BYTES + rowLength(address),
        intAt(address, CELLS_LENGTH));
  }

  private byte[] chunk(long address) {
    return chunks.get((int) (address >>> Integer.SIZE));
  }

  private static int offset(long address) {
    return (int) address;
  }

  private int rowLength(long address) {
    return intAt(address, 0);
  }

  private int intAt(long address, int field) {
    return (int) INT.get(chunk(address), offset(address) + field);
  }

  private void clear() {
    chunks.clear();
    chunkBytes = 0;
    addresses = new long[ADDRESSES_MIN]; // It may have become large.
    current = -1;
    used = 0;
    count = 0;
    firstRow = Bytes.EMPTY;
    lastRow = Bytes.EMPTY;
    inOrder = true;
  }

  /** The numbers of the records, to be sorted by row, and by themselves within a row. */
  private final class Order implements IndexedSortable {
    private final int[] records = new int[count];
    private long[] starts = new long[0]; // Of each record: bytes of its row, as a number.

    Order() {
      Arrays.setAll(records, i -> i);
    }

    void sort(Progressable progress) {
      starts = new long[count];
      Arrays.setAll(starts, i -> start(addresses[i]));
      new QuickSort().sort(this, 0, count, progress);
    }

    /** The first bytes of a row after the common prefix; zeros past its end. */
    private long start(long address) {
      byte[] chunk = chunk(address);
      int at = offset(address) + HEADER_BYTES + common;
      int length = rowLength(address) - common;
      if (length >= Long.BYTES) {
        return (long) LONG.get(chunk, at);
      }
      long start = 0;
      for (int i = 0; i < Long.BYTES; i++) {
        start = start << Byte.SIZE | (i < length ? chunk[at + i] & 0xff : 0);
      }
      return start;
    }

    int record(int place) {
      return records[place];
    }

    boolean isSameRow(int a, int b) {
      return compareRows(records[a], records[b]) == 0;
    }

    @Override
    public int compare(int a, int b) {
      int first = records[a];
      int second = records[b];
      int byStart = Long.compareUnsigned(starts[first], starts[second]);
      if (byStart != 0) {
        return byStart;
      }
      int byRow = compareRows(first, second);
      return byRow != 0 ? byRow : Integer.compare(first, second);
    }

    private int compareRows(int a, int b) {
      long first = addresses[a];
      long second = addresses[b];
      int aAt = offset(first) + HEADER_BYTES;
      int bAt = offset(second) + HEADER_BYTES;
      return Arrays.compareUnsigned(
          chunk(first), aAt, aAt + rowLength(first), chunk(second), bAt, bAt + rowLength(second));
    }

    @Override
    public void swap(int a, int b) {
      int kept = records[a];
      records[a] = records[b];
      records[b] = kept;
    }
  }
}
