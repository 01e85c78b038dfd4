package io.stele.client;

import io.stele.model.Amount;
import io.stele.model.SteleException;
import java.util.List;

/**
 * Some operations of a {@link BatchWriter} were not applied, or it is unknown whether they were.
 *
 * <p>{@link #failed()} lists each of them with its own reason, up to a limit; {@link #count()} is
 * the number of all. The code is {@link SteleException.Code#OUTCOME_UNKNOWN} if the outcome of at
 * least one is unknown, else the code of the first.
 */
public final class MutationsFailedException extends SteleException {
  private static final long serialVersionUID = 1L;

  private final transient List<Outcome> failed;
  private final long count;

  /**
   * Operations that failed.
   *
   * @param failed the first of them
   * @param count how many failed
   * @param unknown whether the outcome of one, also of one that is not among the first, is unknown
   */
  MutationsFailedException(String table, List<Outcome> failed, long count, boolean unknown) {
    super(
        unknown ? Code.OUTCOME_UNKNOWN : failed.get(0).failure().orElseThrow().code(),
        message(table, failed, count),
        failed.get(0).failure().orElseThrow());
    this.failed = List.copyOf(failed);
    this.count = count;
  }

  /** The first operations that failed, in the order in which they failed. */
  public List<Outcome> failed() {
    return failed;
  }

  /** How many failed. */
  public long count() {
    return count;
  }

  private static String message(String table, List<Outcome> failed, long count) {
    Outcome first = failed.get(0);
    return Amount.of(count, "operation")
        + " of table "
        + table
        + " failed; the first, of row \""
        + first.operation().row()
        + "\": "
        + first.failure().orElseThrow().getMessage();
  }
}
