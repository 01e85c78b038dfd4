package io.stele.runtime;

import java.io.IOException;

/**
 * A {@link java.util.concurrent.Callable} that throws no checked exception but {@link IOException}.
 *
 * @param <T> the type of the result
 */
@FunctionalInterface
public interface IoCallable<T> {
  /** Computes the result. */
  T call() throws IOException;
}
