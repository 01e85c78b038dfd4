package io.stele;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** Errors that a test throws where nobody expects them. */
public final class PlantedErrors {
  private static final List<Error> ERRORS =
      List.of(
          new OutOfMemoryError("planted"),
          new StackOverflowError("planted"),
          new AssertionError("planted"),
          new NoClassDefFoundError("planted"));

  private PlantedErrors() {}

  /** Each of {@code stages} with each error. */
  public static Stream<Arguments> at(Object... stages) {
    return Stream.of(stages)
        .flatMap(stage -> ERRORS.stream().map(error -> Arguments.of(stage, error)));
  }
}
