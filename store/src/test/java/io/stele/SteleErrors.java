package io.stele;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** What calls fail with. */
public final class SteleErrors {
  private SteleErrors() {}

  /** The call must throw a {@link SteleException} with that code; its text is for the caller. */
  public static AbstractThrowableAssert<?, ? extends Throwable> assertFails(
      SteleException.Code code, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(SteleException.class, e -> assertThat(e.code()).isEqualTo(code));
  }
}
