package io.stele.tablet;

import io.stele.format.MalformedException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * The clients that an {@link OperationWindow} remembers, and the memory that they take. Whoever
 * changes a client does so by {@link #change}, so that its memory is counted.
 *
 * <p>Not safe for use by several threads: it belongs to an {@link OperationWindow}.
 */
final class RememberedClients {
  private final Map<ClientName, ClientOperations> all = new HashMap<>();
  private final OperationMemory memory;

  /** No clients yet, whose memory {@code budget} counts. */
  RememberedClients(OperationBudget budget) {
    this.memory = new OperationMemory(budget);
  }

  /** What they take, all together. */
  OperationMemory memory() {
    return memory;
  }

  /** How many they are. */
  int count() {
    return all.size();
  }

  /** The client of that name, if it is remembered. */
  Optional<ClientOperations> find(ClientName name) {
    return Optional.ofNullable(all.get(name));
  }

  /** The client of that name, which is remembered from now on. */
  ClientOperations client(ClientName name) {
    ClientOperations known = all.get(name);
    if (known != null) {
      return known;
    }
    ClientOperations client = new ClientOperations();
    all.put(name, client);
    memory.add(client.bytes(), client.jobBytes());
    return client;
  }

  /** Changes a client, and updates the memory count. */
  void change(ClientOperations client, Consumer<ClientOperations> change) {
    long before = client.bytes();
    long jobBefore = client.jobBytes();
    change.accept(client);
    memory.add(client.bytes() - before, client.jobBytes() - jobBefore);
  }

  /** Forgets the older half of a client's done operations; false if there are none. */
  boolean forgetOlderHalf(ClientOperations client) {
    long before = client.bytes();
    long jobBefore = client.jobBytes();
    boolean some = client.forgetOlderHalf();
    memory.add(client.bytes() - before, client.jobBytes() - jobBefore);
    return some;
  }

  /** Adds to a client what is next in a block. */
  void restore(ClientOperations client, OperationsBlock.Reader block) throws MalformedException {
    long before = client.bytes();
    long jobBefore = client.jobBytes();
    block.restore(client);
    memory.add(client.bytes() - before, client.jobBytes() - jobBefore);
  }

  void remove(ClientName name, ClientOperations client) {
    all.remove(name);
    client.forgotten();
    memory.add(-client.bytes(), -client.jobBytes());
  }

  /** The clients in a fixed order, so that equal windows behave identically. */
  List<Map.Entry<ClientName, ClientOperations>> inOrder() {
    return List.copyOf(new TreeMap<>(all).entrySet());
  }

  /** The clients, the one that was silent the longest first. */
  List<Map.Entry<ClientName, ClientOperations>> silentFirst() {
    return inOrder().stream()
        .sorted(Comparator.comparingLong(one -> one.getValue().lastSeenMicros()))
        .toList();
  }

  /** The jobs of those that are tasks. */
  Set<String> jobs() {
    Set<String> jobs = new HashSet<>();
    all.values().forEach(client -> client.job().ifPresent(jobs::add));
    return jobs;
  }

  /** The sum of {@code bytes} over all clients. */
  long sum(ToLongFunction<ClientOperations> bytes) {
    return all.values().stream().mapToLong(bytes).sum();
  }

  /** Each client without its single operations. */
  Map<ClientName, ClientOperations> reduced() {
    Map<ClientName, ClientOperations> reduced = new HashMap<>();
    all.forEach((name, client) -> reduced.put(name, client.reduced()));
    return reduced;
  }
}
