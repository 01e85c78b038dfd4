package io.stele.runtime;

import java.io.IOException;

/**
 * A {@link java.util.function.Function} that may throw an {@link IOException}.
 *
 * @param <T> the type of the argument
 * @param <R> the type of the result
 */
@FunctionalInterface
public interface IoFunction<T, R> {
  /** Computes the result for {@code value}. */
  R apply(T value) throws IOException;
}
