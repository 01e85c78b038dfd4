package io.stele.tabletserver;

import io.stele.model.SteleException;
import java.io.IOException;

/**
 * METADATA does not take a change of a tablet's record: the change is too large, or the file with
 * the record is damaged. It certainly changed nothing, and would be refused again: the cause is the
 * tablet, not this server, which still has the tablet as it was.
 */
final class ChangeRefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  ChangeRefusedException(String what, SteleException why) {
    super("cannot " + what + ", nothing was changed: " + why.getMessage(), why);
  }
}
