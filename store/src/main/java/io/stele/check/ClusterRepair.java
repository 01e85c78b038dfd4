package io.stele.check;

import io.stele.client.Admin;
import io.stele.log.LogRepair;
import io.stele.metadata.Layout;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;

/**
 * Carries out what a check proposes. Each repair may be repeated.
 *
 * <p>For one thread.
 */
public final class ClusterRepair {
  private final ProcessRuntime runtime;
  private final Admin admin;
  private final FileSystem fs;
  private final Layout layout;

  /**
   * Repairs of the cluster that {@code admin} changes.
   *
   * @param fs where its root directory is
   * @param layout of that directory
   */
  public ClusterRepair(ProcessRuntime runtime, Admin admin, FileSystem fs, Layout layout) {
    this.runtime = runtime;
    this.admin = admin;
    this.fs = fs;
    this.layout = layout;
  }

  /** The repairs of what {@code report} found, each once, in the order to do them in. */
  public static List<Repair> of(CheckReport report) {
    return report.problems().stream()
        .map(Problem::repair)
        .flatMap(Optional::stream)
        .distinct()
        .sorted()
        .toList();
  }

  /**
   * Does one.
   *
   * @throws io.stele.model.SteleException REFUSED or NOT_FOUND if the cluster is no longer as the
   *     check found it, OUTCOME_UNKNOWN if it may be done or not: a new check shows it
   * @throws IOException if the files or the lock service cannot be reached
   */
  public void carryOut(Repair repair) throws IOException {
    String target = repair.target();
    switch (repair.kind()) {
      case GIVE_UP_LOG -> {
        ServerId server = ServerId.parse(target);
        LogRepair.giveUp(runtime, fs, layout.logs(server), layout.recovery(server));
      }
      case FORGET_TABLE -> admin.forgetTable(new TableId(target));
      case EVICT_SERVER -> admin.evictServer(ServerId.parse(target));
      case EVICT_SILENT_SERVER -> admin.evictSilentServer(ServerId.parse(target));
      case RELEASE_TABLET -> admin.releaseTablet(target);
    }
  }
}
