package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.EndedChange;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import java.util.Optional;

/** What tests expect of the answers to requests for changes. */
final class Answers {
  private Answers() {}

  /** How a change failed that has ended; empty: it was made. */
  static Optional<Code> failure(TableAdmin.Answer answer) {
    return ended(answer).failure().map(EndedChange.Failure::code);
  }

  /** A change that has ended. */
  static EndedChange ended(TableAdmin.Answer answer) {
    assertThat(answer).isInstanceOf(TableAdmin.Answer.Ended.class);
    return ((TableAdmin.Answer.Ended) answer).change();
  }

  /** The table of a change in progress. */
  static TableId running(TableAdmin.Answer answer) {
    assertThat(answer).isInstanceOf(TableAdmin.Answer.Running.class);
    return ((TableAdmin.Answer.Running) answer).change().table();
  }
}
