package io.stele.tabletserver;

import java.util.concurrent.CompletableFuture;

/** Finds out what became of jobs. Safe for use by any number of threads. */
interface JobOutcomes {
  /**
   * Completes when the tablet may answer a request that has come by now; fails where it may not.
   */
  CompletableFuture<Void> mayAnswer(HostedTablet hosted);

  /** Completes when the tablet takes operations of a job's tasks; fails where it may not. */
  CompletableFuture<Void> admit(HostedTablet hosted, String job);
}
