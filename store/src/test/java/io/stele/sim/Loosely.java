package io.stele.sim;

import io.stele.lock.Lock;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.runtime.ProcessRuntime;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

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

  /** A condition as {@code other} is, but one on a value always holds. */
  public static Object conditionThatHolds(Object other) {
    try {
      Method value = other.getClass().getDeclaredMethod("value");
      value.setAccessible(true);
      if (((Optional<?>) value.invoke(other)).isEmpty()) {
        return other;
      }
      Constructor<?> made = other.getClass().getDeclaredConstructor(Column.class, Optional.class);
      made.setAccessible(true);
      return made.newInstance(Column.of("split", "never there"), Optional.empty());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A lock that says that it is held, by the clock of the process that asks. */
  public static Lock lockThatIsNotAsked(ProcessRuntime runtime) {
    return new Lock() {
      @Override
      public String path() {
        return "nowhere";
      }

      @Override
      public boolean isHeld() {
        return true;
      }

      @Override
      public Duration sessionTimeout() {
        return Duration.ofDays(1);
      }

      @Override
      public Instant renew() {
        return runtime.wallClock().instant();
      }

      @Override
      public void update(Bytes data) {}

      @Override
      public void onLost(Runnable action) {}

      @Override
      public void release() {}
    };
  }

  /** The id of a tablet that a server has. */
  public static Object id(Object hosted) {
    try {
      Method id = hosted.getClass().getDeclaredMethod("id");
      id.setAccessible(true);
      return id.invoke(hosted);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
