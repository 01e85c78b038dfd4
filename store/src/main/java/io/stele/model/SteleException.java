package io.stele.model;

/**
 * Says why Stele could not do what it was asked: the {@link Code} is for programs, the message
 * (what, where, what to do next) for people.
 *
 * <p>The code also tells the outcome of an operation that changes data: {@link
 * Code#OUTCOME_UNKNOWN} says that it may have been applied; every other code says that it was not.
 */
public class SteleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of failure. */
  public enum Code {
    /** The table, family, tablet or file asked for does not exist. */
    NOT_FOUND,
    /** What should be created is there already. Nothing was changed. */
    ALREADY_EXISTS,
    /**
     * The request is wrong and would be wrong again: bad input, no permission, a limit exceeded.
     * Nothing was changed.
     */
    REFUSED,
    /**
     * The request may succeed later: the server is full, starting or giving the tablet away.
     * Nothing was changed.
     */
    RETRY_LATER,
    /**
     * The connection or server was lost after the request had left: it may have been applied, or
     * not. Or it was applied, as the message then says, but its result is lost.
     */
    OUTCOME_UNKNOWN,
    /** Stored data is damaged or missing; the message says where. */
    CORRUPTION
  }

  private final Code code;

  /** An exception of {@code code} that says {@code message}. */
  public SteleException(Code code, String message) {
    super(message);
    this.code = code;
  }

  /** An exception of {@code code} that says {@code message} and was caused by {@code cause}. */
  public SteleException(Code code, String message, Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** What, where and what to do next; never null. */
  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }

  /** What kind of failure this is. */
  public Code code() {
    return code;
  }

  /** Something asked for does not exist. */
  public static SteleException notFound(String message) {
    return new SteleException(Code.NOT_FOUND, message);
  }

  /** The request is wrong and nothing was changed. */
  public static SteleException refused(String message) {
    return new SteleException(Code.REFUSED, message);
  }

  /** The request is wrong, as a value made of it {@code said}, and nothing was changed. */
  public static SteleException refused(IllegalArgumentException said) {
    return new SteleException(Code.REFUSED, String.valueOf(said.getMessage()), said);
  }

  /** The request may succeed later; nothing was changed. */
  public static SteleException retryLater(String message) {
    return new SteleException(Code.RETRY_LATER, message);
  }

  /** The request may have been applied, or not. */
  public static SteleException outcomeUnknown(String message, Throwable cause) {
    return new SteleException(Code.OUTCOME_UNKNOWN, message, cause);
  }
}
