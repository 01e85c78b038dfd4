package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.log.LoggedOperation;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * The operations of its clients that a tablet remembers, so that a retry is applied once. This is
 * the scheme of RIFL (Lee et al., SOSP 2015), in which the client says what may be forgotten.
 *
 * <p>For each client it keeps the lowest number that may still be retried. It refuses operations
 * below that number, and knows every operation at or above it that this tablet has applied, with
 * its result. A client that was silent for longer than the window is reduced to a number above all
 * that it ever sent here. After sixteen windows it forgets that, too.
 *
 * <p>An operation is <em>recent</em> until a minor compaction has written it to an SSTable's block,
 * and <em>written</em> from then on. Each block has the operations that were recent when the block
 * was written: the blocks of a tablet's files and its log together have all that it remembers.
 *
 * <p>Safe for use by any number of threads.
 *
 * <pre>
 * block  := version:u8=1 client*                                     in ascending order of client
 * client := high:u64 low:u64 first-incomplete:varlong last-seen:varlong operations:varint operation*
 * operation := number:varlong digest:u64 result:prefixed             in ascending order of number
 * </pre>
 */
final class OperationWindow {
  /** The name of the block in an SSTable. */
  static final String META_BLOCK = "operations";

  private static final int VERSION = 1;
  private static final int WINDOWS_KEPT = 16;

  private record ClientName(long high, long low) implements Comparable<ClientName> {
    @Override
    public int compareTo(ClientName other) {
      int byHigh = Long.compare(high, other.high);
      return byHigh != 0 ? byHigh : Long.compare(low, other.low);
    }
  }

  /** One operation: in flight while its future is there, done when it has a result. */
  static final class Operation {
    final OperationId id;
    final long firstIncomplete;
    final Bytes digest;
    private long sequence;
    private Optional<CompletableFuture<OperationResult>> future;
    private Bytes result;

    private Operation(
        OperationId id,
        long firstIncomplete,
        Bytes digest,
        Optional<CompletableFuture<OperationResult>> future,
        Bytes result) {
      this.id = id;
      this.firstIncomplete = firstIncomplete;
      this.digest = digest;
      this.future = future;
      this.result = result;
    }

    LoggedOperation logged(Bytes withResult) {
      return new LoggedOperation(id, firstIncomplete, digest, withResult);
    }
  }

  private static final class Client {
    long firstIncomplete = 1;
    long highest;
    long lastSeenMicros;
    final TreeMap<Long, Operation> recent = new TreeMap<>();
    final WrittenOperations written = new WrittenOperations();

    void forgetBelow(long number) {
      if (number > firstIncomplete) {
        firstIncomplete = number;
        recent.headMap(number).values().removeIf(operation -> operation.future.isEmpty());
        written.forgetBelow(number);
      }
    }

    void moveToWritten(List<Operation> operations) {
      int count = operations.size();
      long[] numbers = new long[count];
      long[] digests = new long[count];
      Bytes[] results = new Bytes[count];
      for (int i = 0; i < count; i++) {
        Operation operation = operations.get(i);
        numbers[i] = operation.id.number();
        digests[i] = OperationDigest.folded(operation.digest);
        results[i] = operation.result;
      }
      written.addAll(numbers, digests, results, count);
    }
  }

  /** What {@link #begin} found: a new operation, or one known before and its outcome. */
  record Begun(Operation operation, Optional<CompletableFuture<OperationResult>> known) {}

  private final Map<ClientName, Client> clients = new HashMap<>();
  private final long windowMicros;

  OperationWindow(long windowMicros) {
    this.windowMicros = windowMicros;
  }

  /** An empty one that forgets as late as this one. */
  OperationWindow ofSameLength() {
    return new OperationWindow(windowMicros);
  }

  /**
   * Begins an operation, or finds the original of which it is a retry.
   *
   * @param future completed by the caller, if the operation is new
   * @throws SteleException REFUSED where the id is older than the window or another operation's
   */
  synchronized Begun begin(
      OperationId id,
      long firstIncomplete,
      Bytes digest,
      long nowMicros,
      CompletableFuture<OperationResult> future) {
    if (firstIncomplete > id.number()) {
      throw SteleException.refused(
          "operation "
              + id
              + " is below "
              + firstIncomplete
              + ", the first that its client says it may still retry");
    }
    Client client = clients.computeIfAbsent(name(id), name -> new Client());
    client.lastSeenMicros = nowMicros;
    client.forgetBelow(firstIncomplete);
    Optional<CompletableFuture<OperationResult>> known = outcome(client, id, digest);
    Operation operation =
        new Operation(id, firstIncomplete, digest, Optional.of(future), Bytes.EMPTY);
    if (known.isPresent()) {
      return new Begun(operation, known);
    }
    if (id.number() < client.firstIncomplete) {
      throw SteleException.refused(
          "operation "
              + id
              + " is older than the window: its client had said that it would not be tried again,"
              + " or was silent for too long. Nothing was done now; whether it was before is not"
              + " known any more");
    }
    client.recent.put(id.number(), operation);
    client.highest = Math.max(client.highest, id.number());
    return new Begun(operation, Optional.empty());
  }

  /** Forgets an operation that was not queued: a retry of it is a new operation. */
  synchronized void abandon(Operation operation) {
    Client client = clients.get(name(operation.id));
    if (client != null) {
      client.recent.remove(operation.id.number(), operation);
    }
  }

  /** Says under which number an operation is queued, and what its result will be. */
  synchronized void queued(Operation operation, long sequence, Bytes result) {
    operation.sequence = sequence;
    operation.result = result;
  }

  /** Says that an operation is durable. */
  synchronized void done(Operation operation) {
    operation.future = Optional.empty();
    Client client = clients.get(name(operation.id));
    if (client != null && operation.id.number() < client.firstIncomplete) {
      client.recent.remove(operation.id.number(), operation);
    }
  }

  /** Adds an operation from the log. */
  synchronized void replay(LoggedOperation logged, long sequence, long nowMicros) {
    OperationId id = logged.id();
    Client client = clients.computeIfAbsent(name(id), absent -> new Client());
    client.lastSeenMicros = Math.max(client.lastSeenMicros, nowMicros);
    client.highest = Math.max(client.highest, id.number());
    client.forgetBelow(logged.firstIncomplete());
    if (id.number() >= client.firstIncomplete) {
      Operation operation =
          new Operation(
              id, logged.firstIncomplete(), logged.digest(), Optional.empty(), logged.result());
      operation.sequence = sequence;
      client.recent.putIfAbsent(id.number(), operation);
    }
  }

  /**
   * Adds the operations of a block that {@link #encodeRecent} or {@link #encodeWritten} wrote;
   * blocks may be added in any order.
   */
  synchronized void restore(Bytes block) throws MalformedException {
    ByteReader in = new ByteReader(block.toByteArray());
    int version = in.readByte();
    if (version != VERSION) {
      throw in.malformed("operations of version " + version + " are not known here");
    }
    while (in.remaining() > 0) {
      ClientName name = new ClientName(in.readLong(), in.readLong());
      long firstIncomplete = in.readVarlong();
      long lastSeen = in.readVarlong();
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
      Client client = clients.computeIfAbsent(name, absent -> new Client());
      client.lastSeenMicros = Math.max(client.lastSeenMicros, lastSeen);
      client.written.addAll(numbers, digests, results, count);
      client.highest = Math.max(client.highest, count == 0 ? 0 : numbers[count - 1]);
      client.forgetBelow(firstIncomplete);
      client.written.forgetBelow(client.firstIncomplete);
    }
  }

  /**
   * The operations from above one sequence number to another, as a block; empty where there are no
   * clients. Forgets clients that were silent for too long first.
   */
  synchronized Bytes encodeRecent(long above, long through, long nowMicros) {
    expire(nowMicros);
    ByteWriter out = new ByteWriter(256).writeByte(VERSION);
    inOrder()
        .forEach(
            (name, client) -> {
              List<Operation> written =
                  client.recent.values().stream()
                      .filter(one -> one.sequence > above && one.sequence <= through)
                      .toList();
              encode(name, client, written.size(), out);
              written.forEach(
                  one ->
                      out.writeVarlong(one.id.number())
                          .writeLong(OperationDigest.folded(one.digest))
                          .writePrefixed(one.result));
            });
    return clients.isEmpty() ? Bytes.EMPTY : Bytes.wrap(out.toByteArray());
  }

  /** Says that the operations up to a sequence number are in SSTables. */
  synchronized void moveToWritten(long through) {
    for (Client client : clients.values()) {
      List<Operation> moving = new ArrayList<>();
      for (Iterator<Operation> all = client.recent.values().iterator(); all.hasNext(); ) {
        Operation one = all.next();
        if (one.sequence > 0 && one.sequence <= through && one.future.isEmpty()) {
          moving.add(one);
          all.remove();
        }
      }
      client.moveToWritten(moving);
    }
  }

  /** Forgets everything that {@code live}, which knew all that this one knows, has forgotten. */
  void forgetAs(OperationWindow live) {
    Map<ClientName, Client> known = new HashMap<>();
    synchronized (live) {
      live.clients.forEach(
          (name, client) -> {
            Client copy = new Client();
            copy.firstIncomplete = client.firstIncomplete;
            copy.lastSeenMicros = client.lastSeenMicros;
            known.put(name, copy);
          });
    }
    synchronized (this) {
      clients.keySet().retainAll(known.keySet());
      known.forEach(
          (name, theirs) -> {
            Client client = clients.get(name);
            if (client != null) {
              client.lastSeenMicros = theirs.lastSeenMicros;
              client.forgetBelow(theirs.firstIncomplete);
            }
          });
    }
  }

  /** The written operations as a block; empty where there are no clients. */
  synchronized Bytes encodeWritten() {
    ByteWriter out = new ByteWriter(256).writeByte(VERSION);
    inOrder()
        .forEach(
            (name, client) -> {
              encode(name, client, client.written.size(), out);
              client.written.forEach(
                  (number, digest, result) ->
                      out.writeVarlong(number).writeLong(digest).writePrefixed(result));
            });
    return clients.isEmpty() ? Bytes.EMPTY : Bytes.wrap(out.toByteArray());
  }

  /** The clients as a block has them: in a fixed order, so that equal windows give equal bytes. */
  private SortedMap<ClientName, Client> inOrder() {
    return new TreeMap<>(clients);
  }

  private static void encode(ClientName name, Client client, int count, ByteWriter out) {
    out.writeLong(name.high())
        .writeLong(name.low())
        .writeVarlong(client.firstIncomplete)
        .writeVarlong(client.lastSeenMicros)
        .writeVarint(count);
  }

  private void expire(long nowMicros) {
    for (Iterator<Client> all = clients.values().iterator(); all.hasNext(); ) {
      Client client = all.next();
      long silent = nowMicros - client.lastSeenMicros;
      boolean inFlight =
          client.recent.values().stream().anyMatch(operation -> operation.future.isPresent());
      if (silent > windowMicros && !inFlight) {
        client.forgetBelow(client.highest + 1);
        if (silent / WINDOWS_KEPT > windowMicros) {
          all.remove();
        }
      }
    }
  }

  /** The outcome, present or future, of an operation that is known. */
  private static Optional<CompletableFuture<OperationResult>> outcome(
      Client client, OperationId id, Bytes digest) {
    Operation recent = client.recent.get(id.number());
    if (recent != null) {
      checkSame(id, recent.digest.equals(digest));
      return Optional.of(
          recent
              .future
              .map(CompletableFuture::copy)
              .orElseGet(() -> OperationResults.decode(id, recent.result)));
    }
    int index = client.written.find(id.number());
    if (index < 0) {
      return Optional.empty();
    }
    checkSame(id, client.written.digest(index) == OperationDigest.folded(digest));
    return Optional.of(OperationResults.decode(id, client.written.result(index)));
  }

  private static void checkSame(OperationId id, boolean same) {
    if (!same) {
      throw SteleException.refused(
          "operation "
              + id
              + " was something else when it came first: what is tried again must be the same to"
              + " the byte (a task that makes it must be deterministic)");
    }
  }

  private static ClientName name(OperationId id) {
    return new ClientName(id.clientHigh(), id.clientLow());
  }
}
