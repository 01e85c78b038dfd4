package io.stele.cli;

import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.ClusterStatus;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.runtime.AtExit;
import io.stele.runtime.Deadline;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What an operator does to a cluster while clients are at work. For one thread. */
final class OperatorFaults {
  private static final Duration CHANGED_MAX = Duration.ofSeconds(8);
  private static final Duration RESTART_MAX = Duration.ofMinutes(3);
  private static final int MOVES = 5;
  private static final int ROWS_MAX = 1_000;

  private final TortureScene scene;

  OperatorFaults(TortureScene scene) {
    this.scene = scene;
  }

  /** All of them. */
  List<TortureFault> all() {
    return List.of(
        TortureFault.of("drain", "drain, then undo", this::drain),
        TortureFault.of("move", "move " + MOVES + " tablets", this::move),
        TortureFault.of("merge", "merge tablets, and split them again", this::merge),
        TortureFault.of("split", "split a tablet", this::split),
        TortureFault.of("balance", "balance", this::balance),
        new TortureFault("rolling-restart", "restart in turn", true, this::restartAll));
  }

  private Optional<String> drain(Stele stele) throws IOException, InterruptedException {
    List<ServerId> there = servers(stele);
    if (there.size() < 2) {
      return Optional.empty();
    }
    ServerId server = there.get(scene.random().nextInt(there.size()));
    stele.admin().beginDrainServer(server);
    undoLater(() -> stele.admin().undrainServer(server));
    return Optional.of(server.toString());
  }

  /** Undoes a change after a while, or when the process is asked to end. */
  private void undoLater(IoRunnable undo) throws IOException, InterruptedException {
    AtExit atCtrlC = SystemRuntime.atExit("undo", () -> undoAtExit(undo));
    try {
      scene.pause(scene.upTo(CHANGED_MAX));
    } finally {
      undo.run();
      atCtrlC.cancel();
    }
  }

  private static void undoAtExit(IoRunnable undo) {
    try {
      undo.run();
    } catch (IOException | RuntimeException e) {
      System.err.println("stele: what was changed is not changed back: " + e.getMessage());
    }
  }

  private static List<ServerId> servers(Stele stele) throws IOException {
    return stele.admin().clusterStatus().servers().stream().map(ClusterStatus.Server::id).toList();
  }

  private Optional<String> move(Stele stele) throws IOException {
    Optional<Table> table = table(stele);
    if (table.isPresent()) {
      List<TabletInfo> tablets = table.get().tablets();
      for (int i = 0; i < MOVES && !scene.isOver(); i++) {
        TabletInfo tablet = tablets.get(scene.random().nextInt(tablets.size()));
        stele.admin().moveTablet(table.get().name(), tablet.rows().start(), Optional.empty());
      }
    }
    return table.map(one -> "of " + one.name());
  }

  /** Merges a tablet with the one before it, and splits it there again. */
  private Optional<String> merge(Stele stele) throws IOException {
    Optional<Table> table = table(stele);
    if (table.isEmpty()) {
      return Optional.empty();
    }
    List<TabletInfo> tablets = table.get().tablets();
    if (tablets.size() < 2) {
      return Optional.empty();
    }
    Bytes row = tablets.get(1 + scene.random().nextInt(tablets.size() - 1)).rows().start();
    stele.admin().mergeTablet(table.get().name(), row);
    stele.admin().splitTablet(table.get().name(), row);
    return Optional.of("of " + table.get().name());
  }

  /** Splits a tablet at one of its rows. */
  private Optional<String> split(Stele stele) throws IOException {
    Optional<Table> table = table(stele);
    if (table.isEmpty()) {
      return Optional.empty();
    }
    RowRange tablet = scene.any(table.get().tablets()).orElseThrow().rows();
    List<Bytes> rows = new ArrayList<>();
    try (Rows found = table.get().readRows(RowQuery.ALL.range(tablet).limit(ROWS_MAX))) {
      for (Row row : found) {
        if (!row.key().equals(tablet.start())) {
          rows.add(row.key());
        }
      }
    }
    Optional<Bytes> row = scene.any(rows);
    if (row.isPresent()) {
      stele.admin().splitTablet(table.get().name(), row.get());
    }
    return row.map(at -> "of " + table.get().name() + " at " + at);
  }

  /** Evens all out at once, or has no tablet balanced for a while. */
  private Optional<String> balance(Stele stele) throws IOException, InterruptedException {
    if (scene.random().nextBoolean()) {
      stele.admin().balanceNow();
      return Optional.of("at once");
    }
    if (!stele.admin().isBalanced()) {
      return Optional.empty(); // Somebody wants it so.
    }
    stele.admin().setBalanced(false);
    undoLater(() -> stele.admin().setBalanced(true));
    return Optional.of("nothing for a while");
  }

  /** One of those that the torture works on. */
  private Optional<Table> table(Stele stele) throws IOException {
    List<String> tables =
        stele.admin().listTables().stream()
            .map(schema -> schema.name())
            .filter(name -> name.startsWith(scene.tables()))
            .toList();
    Optional<String> one = scene.any(tables);
    return one.isPresent() ? Optional.of(stele.table(one.get())) : Optional.empty();
  }

  /**
   * Restarts each tablet server, as {@code stele server restart --all} does, then each master by
   * SIGTERM if its process is ours. Once it is over no more of them.
   */
  private Optional<String> restartAll(Stele stele) throws IOException, InterruptedException {
    List<String> done = new ArrayList<>();
    for (ServerId server : servers(stele)) {
      if (!scene.isOver()) {
        stele.admin().restartServer(server, RESTART_MAX);
        done.add(server.hostAndPort());
      }
    }
    List<TaggedProcess> masters =
        scene.hadoop().isPresent() ? ProcessFaults.some(scene, ProcessFaults::isMaster) : List.of();
    for (TaggedProcess master : masters) {
      if (!scene.isOver()) {
        master.terminate();
        awaitSuccessor(stele, master);
        done.add(master.component().orElse("master"));
      }
    }
    return done.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", done));
  }

  private void awaitSuccessor(Stele stele, TaggedProcess ended)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.after(scene.runtime(), RESTART_MAX);
    while (ProcessFaults.some(scene, process -> isSuccessor(process, ended)).isEmpty()) {
      if (deadline.isOver()) {
        throw new IOException(
            "nobody has started a master in the place of "
                + ended.component().orElse("master")
                + " within "
                + RESTART_MAX.toSeconds()
                + " s");
      }
      scene.runtime().sleep(TortureScene.LOOK_EVERY);
    }
    stele.admin().clusterStatus(); // Some master answers.
  }

  private static boolean isSuccessor(TaggedProcess process, TaggedProcess ended) {
    return process.component().equals(ended.component()) && process.pid() != ended.pid();
  }
}
