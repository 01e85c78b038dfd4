package io.stele.sim.check;

import io.stele.model.SteleException;

/** How a call ended. */
public sealed interface CallOutcome {
  /** It returned this; what it asked to change is changed. */
  record Answered(Result result) implements CallOutcome {}

  /** It failed and did nothing. */
  record Rejected(SteleException.Code code, String message) implements CallOutcome {}

  /** It failed, or has not ended: a change may be applied at any time after it began, or never. */
  record Unknown(String message) implements CallOutcome {}
}
