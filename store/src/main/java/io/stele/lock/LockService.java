package io.stele.lock;

import io.stele.model.Bytes;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The seam to the lock service: a small tree of nodes that all processes of a cluster see alike.
 *
 * <p>Paths are relative to the cluster's root ({@code /stele/<cluster>}), without a slash at either
 * end: {@code servers/host_1_2}; {@link LockPaths} names those in use. A node holds at most {@link
 * #DATA_BYTES_MAX} bytes.
 *
 * <p><b>Outcomes.</b> If the answer to a change was lost with the connection, the node is read
 * again. If the node shows that the change was applied, the call returns normally; if it was not
 * applied, it is retried until the time limit; if neither is certain, the call throws a {@code
 * SteleException} with {@code OUTCOME_UNKNOWN}. Two writers of exactly the same bytes cannot be
 * distinguished: data that decides who won names its writer. An {@link IOException} means that
 * nothing was changed.
 *
 * <p>Safe for use by any number of threads. Calls block for a network round trip, and while
 * disconnected up to the time limit. Callbacks run on threads of the service, which wait for them:
 * a callback may call the service, and should be short.
 */
public interface LockService extends AutoCloseable {
  /** Most bytes of one node. */
  int DATA_BYTES_MAX = 512 << 10;

  /**
   * The node's newest data, as of some moment during the call; empty if there is none.
   *
   * @throws IOException if the service cannot be reached in time
   */
  Optional<VersionedData> read(String path) throws IOException;

  /**
   * When the node was last changed (created or written), as a number: of any two nodes the one that
   * was changed later has the higher one. Empty if there is no such node.
   *
   * @throws IOException if the service cannot be reached in time
   */
  OptionalLong lastChange(String path) throws IOException;

  /**
   * Creates a node (and the nodes above it) that stays until it is deleted; its version is 0.
   *
   * @throws io.stele.model.SteleException ALREADY_EXISTS if it exists, REFUSED if the data is too
   *     large, OUTCOME_UNKNOWN as said above
   * @throws IOException if the service cannot be reached in time; nothing was created
   */
  void create(String path, Bytes data) throws IOException;

  /**
   * Compare and set: replaces the node's data if its version is {@code expectedVersion}.
   *
   * @return the new version; empty if the node is missing or at another version, and nothing was
   *     changed
   * @throws io.stele.model.SteleException REFUSED if the data is too large, OUTCOME_UNKNOWN as said
   *     above
   * @throws IOException if the service cannot be reached in time; nothing was changed
   */
  OptionalInt write(String path, Bytes data, int expectedVersion) throws IOException;

  /**
   * Deletes the node if its version is {@code expectedVersion}.
   *
   * @return whether it is deleted; false if it was missing or at another version. Found missing
   *     after a lost answer counts as deleted.
   * @throws io.stele.model.SteleException REFUSED if it has children, OUTCOME_UNKNOWN as said above
   * @throws IOException if the service cannot be reached in time; nothing was deleted
   */
  boolean delete(String path, int expectedVersion) throws IOException;

  /**
   * The names (not paths) of the node's children, sorted; empty if it has none or is missing.
   *
   * @throws IOException if the service cannot be reached in time
   */
  List<String> children(String path) throws IOException;

  /**
   * The paths of all nodes of the cluster that stay until they are deleted, sorted: whoever made
   * them, at any depth, without locks. It costs a read of each node; one that is created or deleted
   * meanwhile may be missing or included. One that this process may not read is left out, with
   * those below it.
   *
   * @throws IOException if the service cannot be reached in time
   */
  List<String> lasting() throws IOException;

  /**
   * Calls {@code changed} after every change to the node: created, written, deleted, or a child
   * created or deleted. The watch stays until closed.
   *
   * <p>Changes in quick succession may be told as one, and {@code changed} is also called without a
   * change: once when the watch is set, and whenever the connection was lost and is back, as
   * something may have been missed. So: read in the callback, and take the state, not the event.
   * Calls of one watch never overlap.
   */
  Watch watch(String path, Runnable changed);

  /**
   * Takes the lock at {@code path} if it is free, without waiting; parent nodes are created.
   *
   * @param data what others read there, such as the holder's address
   * @return the lock; empty if another session (which may be an earlier one of this process) holds
   *     it
   * @throws IOException if the service cannot be reached in time; what may have been created goes
   *     with the session, or is found by the next call
   */
  Optional<Lock> tryLock(String path, Bytes data) throws IOException;

  /** Ends the session: its locks are free at once, and are not reported as lost. */
  @Override
  void close();

  /** A watch that was set. */
  interface Watch extends AutoCloseable {
    /** Ends the watch; a call that is under way may still finish. */
    @Override
    void close();
  }
}
