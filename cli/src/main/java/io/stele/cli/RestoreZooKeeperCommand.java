package io.stele.cli;

import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.metadata.Layout;
import io.stele.metadata.LockServiceRestore;
import io.stele.model.Amount;
import io.stele.runtime.SystemRuntime;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stele restore-zookeeper}: puts into ZooKeeper what it lost. */
@Command(
    name = "restore-zookeeper",
    description = "Restore a cluster's data in ZooKeeper from the copy in its root directory.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "For a ZooKeeper that has lost its data, or that was put back to an earlier",
      "state: then delete the cluster's node in ZooKeeper first. No master and no",
      "tablet server may run. Changes of schemas within the last minute before the",
      "loss may be missing; stele check lists tables whose schema is missing.",
      "",
      "Examples:",
      "  stele restore-zookeeper          what would be restored",
      "  stele restore-zookeeper --yes    restore it; then start the cluster"
    })
final class RestoreZooKeeperCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;

  @Option(names = "--yes", description = "Restore it.")
  private boolean yes;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    Configuration conf = cluster.configuration();
    ClusterConfig config = ClusterConfig.of(conf);
    PrintWriter out = spec.commandLine().getOut();
    Path root = new Path(Keys.ROOT_DIR.in(conf));
    FileSystem fs = root.getFileSystem(conf);
    Layout layout = Layout.open(fs, root);
    try (LockService locks = CuratorLockService.connect(SystemRuntime.INSTANCE, config)) {
      LockServiceRestore restore =
          new LockServiceRestore(SystemRuntime.INSTANCE, fs, layout, locks);
      out.println(
          "the copy in "
              + layout.root()
              + " has "
              + Amount.of(restore.tables(), "table")
              + " as of "
              + restore.copy().nodesCopied().orElseThrow()
              + ", and the record of the root tablet as of "
              + restore.copy().rootCopied().orElseThrow());
      restore.requireLost();
      if (yes) {
        restore.restore();
        out.println(
            "restored to /stele/"
                + config.name()
                + " in ZooKeeper. Next: start the cluster; stele check shows whether all is well");
      } else {
        out.println("nothing was changed: to restore it, add --yes");
      }
    }
    return ExitCode.DONE.number();
  }
}
