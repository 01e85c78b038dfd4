package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.log.LoggedOperation;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.SteleException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * What a tablet remembers of its clients' operations, so that a retry is applied once: the scheme
 * of RIFL (Lee et al., SOSP 2015), with the client's own word for what may be forgotten.
 *
 * <p>Of each client it has the lowest number that may still be retried; what is below is refused,
 * and of what is at or above it everything that this tablet has applied is known, with its result.
 * A client that was silent for longer than the window is reduced to a number: all it ever sent here
 * is below. After sixteen windows that goes too.
 *
 * <p>Safe for use by any number of threads.
 *
 * <pre>
 * block  := version:u8=1 client*
 * client := high:u64 low:u64 first-incomplete:varlong last-seen:varlong operations:varint operation*
 * operation := number:varlong sequence:varlong digest:prefixed result:prefixed
 * </pre>
 */
final class OperationWindow {
  /** The name of the block in an SSTable. */
  static final String META_BLOCK = "operations";

  private static final int VERSION = 1;
  private static final int WINDOWS_KEPT = 16;

  private record ClientName(long high, long low) {}

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
    final TreeMap<Long, Operation> operations = new TreeMap<>();

    void forgetBelow(long number) {
      if (number > firstIncomplete) {
        firstIncomplete = number;
        operations.headMap(number).values().removeIf(operation -> operation.future.isEmpty());
      }
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
   * Begins an operation, or finds the one of which it is a retry.
   *
   * @param future completed by who applies the operation, if it is new
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
    Operation known = client.operations.get(id.number());
    if (known != null && !known.digest.equals(digest)) {
      throw SteleException.refused(
          "operation "
              + id
              + " was something else when it came first: what is tried again must be the same to"
              + " the byte (a task that makes it must be deterministic)");
    }
    if (known != null) {
      return new Begun(known, Optional.of(outcome(known)));
    }
    if (id.number() < client.firstIncomplete) {
      throw SteleException.refused(
          "operation "
              + id
              + " is older than the window: its client had said that it would not be tried again,"
              + " or was silent for too long. Nothing was done now; whether it was before is not"
              + " known any more");
    }
    Operation operation =
        new Operation(id, firstIncomplete, digest, Optional.of(future), Bytes.EMPTY);
    client.operations.put(id.number(), operation);
    client.highest = Math.max(client.highest, id.number());
    return new Begun(operation, Optional.empty());
  }

  /** Forgets an operation of which nothing was queued: its retry is a new one. */
  synchronized void abandon(Operation operation) {
    Client client = clients.get(name(operation.id));
    if (client != null) {
      client.operations.remove(operation.id.number(), operation);
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
      client.operations.remove(operation.id.number(), operation);
    }
  }

  /** Takes in an operation from the log. */
  synchronized void replay(LoggedOperation logged, long sequence, long nowMicros) {
    restore(
        logged.id(),
        logged.firstIncomplete(),
        nowMicros,
        sequence,
        logged.digest(),
        logged.result());
  }

  /** Takes in a block that {@link #encode} wrote; several may be taken in, in any order. */
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
      Client client = clients.computeIfAbsent(name, absent -> new Client());
      client.lastSeenMicros = Math.max(client.lastSeenMicros, lastSeen);
      client.forgetBelow(firstIncomplete);
      int count = in.readVarint();
      for (int i = 0; i < count; i++) {
        OperationId id = new OperationId(name.high(), name.low(), in.readVarlong());
        long sequence = in.readVarlong();
        restore(id, firstIncomplete, lastSeen, sequence, in.readPrefixed(), in.readPrefixed());
      }
    }
  }

  /**
   * All that is known of operations up to a sequence number, as a block; empty where that is
   * nothing. Forgets clients that were silent for too long.
   */
  synchronized Bytes encode(long sequenceMax, long nowMicros) {
    expire(nowMicros);
    ByteWriter out = new ByteWriter(256).writeByte(VERSION);
    clients.forEach(
        (name, client) -> {
          long count =
              client.operations.values().stream().filter(o -> isDone(o, sequenceMax)).count();
          out.writeLong(name.high())
              .writeLong(name.low())
              .writeVarlong(client.firstIncomplete)
              .writeVarlong(client.lastSeenMicros)
              .writeVarint((int) count);
          client.operations.values().stream()
              .filter(o -> isDone(o, sequenceMax))
              .forEach(
                  operation ->
                      out.writeVarlong(operation.id.number())
                          .writeVarlong(operation.sequence)
                          .writePrefixed(operation.digest)
                          .writePrefixed(operation.result));
        });
    return clients.isEmpty() ? Bytes.EMPTY : Bytes.wrap(out.toByteArray());
  }

  private void restore(
      OperationId id,
      long firstIncomplete,
      long lastSeenMicros,
      long sequence,
      Bytes digest,
      Bytes result) {
    Client client = clients.computeIfAbsent(name(id), absent -> new Client());
    client.lastSeenMicros = Math.max(client.lastSeenMicros, lastSeenMicros);
    client.highest = Math.max(client.highest, id.number());
    client.forgetBelow(firstIncomplete);
    if (id.number() >= client.firstIncomplete) {
      Operation operation = new Operation(id, firstIncomplete, digest, Optional.empty(), result);
      operation.sequence = sequence;
      client.operations.putIfAbsent(id.number(), operation);
    }
  }

  private void expire(long nowMicros) {
    for (Iterator<Client> all = clients.values().iterator(); all.hasNext(); ) {
      Client client = all.next();
      long silent = nowMicros - client.lastSeenMicros;
      boolean inFlight =
          client.operations.values().stream().anyMatch(operation -> operation.future.isPresent());
      if (silent > windowMicros && !inFlight) {
        client.forgetBelow(client.highest + 1);
        if (silent / WINDOWS_KEPT > windowMicros) {
          all.remove();
        }
      }
    }
  }

  private static CompletableFuture<OperationResult> outcome(Operation operation) {
    return operation
        .future
        .map(CompletableFuture::copy)
        .orElseGet(() -> OperationResults.decode(operation.id, operation.result));
  }

  private static boolean isDone(Operation operation, long sequenceMax) {
    return operation.sequence > 0 && operation.sequence <= sequenceMax;
  }

  private static ClientName name(OperationId id) {
    return new ClientName(id.clientHigh(), id.clientLow());
  }
}
