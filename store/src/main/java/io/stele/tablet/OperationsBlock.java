package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;

/**
 * The block of an SSTable with what an {@link OperationWindow} remembers.
 *
 * <pre>
 * block  := version:u8=4 time:varlong horizon:varlong merged:varlong client*   in ascending order of client
 * client := high:u64 low:u64 first-incomplete:varlong last-seen:varlong is-task:u8 task?
 *           operations:varint operation*                             for task see TaskMemory
 * operation := number:varlong digest:u64 result:prefixed             in ascending order of number
 * </pre>
 *
 * Times are in microseconds of the tablet's own time. A horizon of 0 says that no client was
 * forgotten.
 */
final class OperationsBlock {
  /** The name of the block in an SSTable. */
  static final String NAME = "operations";

  private static final int VERSION = 4;
  private static final int VARLONG_BYTES_MAX = 10;

  private OperationsBlock() {}

  /**
   * The start of a block; see {@link OperationWindow}.
   *
   * @param micros the tablet's own time when the block was written
   * @param horizonMicros no forgotten client was seen after it; 0: none is forgotten
   * @param mergedHorizonMicros a merge may have made clients seen before it only partly known; 0:
   *     none
   */
  record Header(long micros, long horizonMicros, long mergedHorizonMicros) {}

  static Writer write(Header header) {
    return new Writer(header);
  }

  /** Starts to read a block. */
  static Reader read(Bytes block) throws MalformedException {
    return new Reader(new ByteReader(block.toByteArray()));
  }

  /** The tablet's own time when {@code block} was written; 0 if it is empty. */
  static long timeOf(Bytes block) {
    if (block.isEmpty()) {
      return 0;
    }
    int header = Math.min(block.length(), 1 + VARLONG_BYTES_MAX);
    ByteReader in = new ByteReader(block.slice(0, header).toByteArray());
    try {
      in.readByte();
      return in.readVarlong();
    } catch (MalformedException e) {
      throw new IllegalArgumentException("a block that was just written is malformed", e);
    }
  }

  /** Writes a block: the clients in ascending order, each followed by its operations. */
  static final class Writer {
    private final ByteWriter out = new ByteWriter(256);
    private boolean empty;

    private Writer(Header header) {
      empty = header.horizonMicros() == 0;
      out.writeByte(VERSION)
          .writeVarlong(header.micros())
          .writeVarlong(header.horizonMicros())
          .writeVarlong(header.mergedHorizonMicros());
    }

    /** Adds a client, whose next {@code operations} operations follow. */
    void client(ClientName name, ClientOperations client, int operations) {
      empty = false;
      out.writeLong(name.high())
          .writeLong(name.low())
          .writeVarlong(client.firstIncomplete())
          .writeVarlong(client.lastSeenMicros())
          .writeByte(client.task().isPresent() ? 1 : 0);
      client.task().ifPresent(task -> task.encode(out));
      out.writeVarint(operations);
    }

    void operation(long number, long digest, Bytes result) {
      out.writeVarlong(number).writeLong(digest).writePrefixed(result);
    }

    /** The block; empty if there is nothing to remember. */
    Bytes block() {
      return empty ? Bytes.EMPTY : Bytes.wrap(out.toByteArray());
    }
  }

  /** Reads a block, one client after the other. */
  static final class Reader {
    private final ByteReader in;
    private final Header header;
    private long firstIncomplete;
    private long lastSeenMicros;

    private Reader(ByteReader in) throws MalformedException {
      this.in = in;
      int version = in.readByte();
      if (version > VERSION) {
        throw in.newer("operations of version " + version);
      }
      if (version < VERSION) {
        throw in.malformed("operations of version " + version + " are not known here");
      }
      this.header = new Header(in.readVarlong(), in.readVarlong(), in.readVarlong());
    }

    Header header() {
      return header;
    }

    boolean hasNext() {
      return in.remaining() > 0;
    }

    /** Begins the next client; {@link #restore} must follow before the one after it. */
    ClientName next() throws MalformedException {
      ClientName name = new ClientName(in.readLong(), in.readLong());
      firstIncomplete = in.readVarlong();
      lastSeenMicros = in.readVarlong();
      return name;
    }

    /** When the client was last seen, in the tablet's own time. */
    long lastSeenMicros() {
      return lastSeenMicros;
    }

    /** Adds the block's information about the client to {@code client}. */
    void restore(ClientOperations client) throws MalformedException {
      if (in.readByte() == 1) {
        client.asTask().restore(in);
      }
      int count = in.readVarint();
      if (count > in.remaining()) {
        throw in.malformed("there cannot be " + count + " operations here");
      }
      long[] numbers = new long[count];
      long[] digests = new long[count];
      Bytes[] results = new Bytes[count];
      for (int i = 0; i < count; i++) {
        numbers[i] = in.readVarlong();
        digests[i] = in.readLong();
        results[i] = in.readPrefixed();
        if (i > 0 && numbers[i] <= numbers[i - 1]) {
          throw in.malformed("operation " + numbers[i] + " comes after " + numbers[i - 1]);
        }
      }
      client.restore(firstIncomplete, numbers, digests, results);
    }
  }
}
