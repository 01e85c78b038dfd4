package io.stele.cli;

import io.stele.client.TableChange;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Option;

/** How to wait for a change of a table. */
final class ChangeOptions {
  @Option(
      names = "--no-wait",
      description =
          "Do not wait: print the change's id and return. `stele table change ID` shows its"
              + " progress.")
  private boolean noWait;

  /**
   * Waits for the change, unless it is not to be waited for.
   *
   * @param done what to print when it is made
   */
  void finish(TableChange change, String done, PrintWriter out) throws IOException {
    if (noWait) {
      out.println(change.id());
      return;
    }
    change.await();
    out.println(done);
  }
}
