package io.stele.model;

import java.util.Collection;

/**
 * Stored bytes are whole, and were written by a newer version of Stele than this one, which cannot
 * read them, or may not change them. That is no damage: nothing was lost, and nothing may be given
 * up for it.
 */
public final class NewerFormatException extends SteleException {
  private static final long serialVersionUID = 1L;

  /**
   * REFUSED, until this process is of a version that can read it.
   *
   * @param where the file or record, if the caller knows it, and the place in it
   * @param what is not known, such as "a record of type 4"
   */
  public NewerFormatException(String where, String what) {
    super(Code.REFUSED, message(where, what));
  }

  /** The same, found by {@code cause}. */
  public NewerFormatException(String where, String what, Throwable cause) {
    super(Code.REFUSED, message(where, what), cause);
  }

  private NewerFormatException(String message) {
    super(Code.REFUSED, message);
  }

  /**
   * REFUSED: who changes this must know features that this version does not know, or it would lose
   * or contradict what they have written. Who only reads it need not.
   *
   * @param where the node or record
   */
  public static NewerFormatException requiring(String where, Collection<String> features) {
    return new NewerFormatException(
        where
            + " requires "
            + String.join(", ", features)
            + ", which this version of Stele does not know, so it changes nothing there: upgrade this"
            + " process; nothing is damaged");
  }

  private static String message(String where, String what) {
    return where
        + " has "
        + what
        + ", written by a newer version of Stele, which this one cannot read: upgrade this process;"
        + " nothing is damaged";
  }
}
