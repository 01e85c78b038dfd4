package io.stele.cli;

import io.stele.client.Stele;
import java.io.IOException;
import java.util.Optional;

/**
 * Something that can be made to fail.
 *
 * @param name by which people choose it
 * @param text what is done, in words
 * @param harmless whether no call of a client may fail meanwhile
 * @param injection does it
 */
record TortureFault(String name, String text, boolean harmless, Injection injection) {
  /** Something after which calls may be late or fail. */
  static TortureFault of(String name, String text, Injection injection) {
    return new TortureFault(name, text, false, injection);
  }

  /** Makes something fail, and returns when the cause is gone. */
  @FunctionalInterface
  interface Injection {
    /**
     * Does it.
     *
     * @return what it was done to; empty: nothing was there that it could be done to
     * @throws IOException if it could not be done
     */
    Optional<String> inject(Stele stele) throws IOException, InterruptedException;
  }
}
