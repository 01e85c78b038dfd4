package io.stele.sim;

import io.stele.model.Column;
import java.lang.reflect.Constructor;
import java.util.Optional;

/** Values of types that are not visible here, for what {@link PlantedFaults} returns. */
public final class Loosely {
  private Loosely() {}

  /** A condition on a record that always holds, of the class of {@code condition}. */
  public static Object always(Object condition) {
    try {
      Constructor<?> constructor = condition.getClass().getDeclaredConstructors()[0];
      constructor.setAccessible(true);
      return constructor.newInstance(Column.of("assignment", "never"), Optional.empty());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The constant of that name of the enum that {@code other} is of. */
  public static Object constant(Object other, String name) {
    for (Object constant : ((Enum<?>) other).getDeclaringClass().getEnumConstants()) {
      if (((Enum<?>) constant).name().equals(name)) {
        return constant;
      }
    }
    throw new IllegalStateException(other + " has no sibling " + name);
  }
}
