package io.stele.sim;

/** Values of types that are not visible here, for what {@link PlantedFaults} returns. */
public final class Loosely {
  private Loosely() {}

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
