package io.stele.tablet;

import io.stele.record.ManifestEdit;
import java.io.IOException;

/**
 * The durable record of which files make up one tablet: in a server, the tablet's row in METADATA,
 * changed by one write that is conditional on the tablet's epoch.
 *
 * <p>The tablet calls from one thread at a time.
 */
@FunctionalInterface
public interface Manifest {
  /**
   * Makes {@code edit} durable before it returns.
   *
   * @throws IOException if nothing was changed, even if the edit would be refused again: the tablet
   *     goes on without it and may try again
   * @throws io.stele.model.SteleException RETRY_LATER if nothing was changed, as above; with any
   *     other code (REFUSED: the tablet is no longer this server's; OUTCOME_UNKNOWN) the tablet
   *     stops serving and must be loaded again from its record
   */
  void commit(ManifestEdit edit) throws IOException;
}
