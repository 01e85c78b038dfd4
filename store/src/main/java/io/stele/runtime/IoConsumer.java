package io.stele.runtime;

import java.io.IOException;

/**
 * A {@link java.util.function.Consumer} that may throw an {@link IOException}.
 *
 * @param <T> the type of the argument
 */
@FunctionalInterface
public interface IoConsumer<T> {
  /** Does its work on {@code value}. */
  void accept(T value) throws IOException;
}
