package io.stele.metadata;

import io.stele.model.Bytes;
import java.util.concurrent.CompletableFuture;

/**
 * Keeps a caller from waiting for what only the caller itself can bring about: the master's loop
 * must not wait for tablets of METADATA that it has to assign. A guarded request fails instead: a
 * read, and what was not sent, with an {@link java.io.IOException}; a change that may have been
 * applied with a SteleException of OUTCOME_UNKNOWN. Safe for use by any number of threads.
 */
public interface RequestGuard {
  /** Lets every request wait. */
  RequestGuard NONE =
      new RequestGuard() {
        @Override
        public CompletableFuture<Void> overtaken() {
          return new CompletableFuture<>();
        }

        @Override
        public boolean isServed(Bytes row) {
          return true;
        }
      };

  /**
   * Asked when the wait for an answer begins: the future completes when that must be given up. A
   * change may or may not have been applied then.
   */
  CompletableFuture<Void> overtaken();

  /**
   * Whether the tablet of METADATA with {@code row} is served. If not, a request for it is not
   * sent.
   */
  boolean isServed(Bytes row);
}
