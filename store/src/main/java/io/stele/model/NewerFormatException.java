package io.stele.model;

/**
 * Stored bytes are whole, and were written by a newer version of Stele than this one, which cannot
 * read them. That is no damage: nothing was lost, and nothing may be given up for it.
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
    super(
        Code.REFUSED,
        where
            + " has "
            + what
            + ", written by a newer version of Stele, which this one cannot read: upgrade this"
            + " process; nothing is damaged");
  }
}
