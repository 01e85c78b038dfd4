package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.WholeFence;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletRecord;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.record.FileRef;
import io.stele.sim.Simulation;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** A table with one tablet, its files, and a sweeper. */
abstract class SweeperTestCase {
  static final ServerId A = new ServerId("a", 1, 1);
  static final ServerId DEAD = new ServerId("dead", 1, 1);
  static final ServerId UNNAMED = new ServerId("unnamed", 1, 1);
  static final Duration GRACE = Duration.ofHours(1);

  final MasterFixture master = new MasterFixture();
  final Sweeper sweeper = sweeper(GRACE);
  TableId table;
  TabletRecord tablet;

  Sweeper sweeper(Duration grace) {
    return sweeper(master.fs, grace);
  }

  Sweeper sweeper(FileSystem fs, Duration grace) {
    return sweeper(master.schemas, fs, grace);
  }

  Sweeper sweeper(Schemas schemas, FileSystem fs, Duration grace) {
    return new Sweeper(
        master.process,
        master.records,
        schemas,
        new Sweeper.Store(fs, master.layout, new ServerLocks(master.locks)),
        grace);
  }

  void run(Simulation.Work work) throws Exception {
    master.run(
        () -> {
          createTable();
          work.run();
        });
  }

  void fence(ServerId server) throws IOException {
    master.fs.mkdirs(master.layout.logs(server));
    WholeFence.fence(
        WholeFence.of(master.process, master.fs),
        master.layout.logs(server),
        master.layout.recovery(server));
  }

  void createTable() throws Exception {
    master.bootstrap();
    table = master.table("users");
    TabletRecord created = master.records.reader().readAll(table).get(0);
    tablet = master.records.loaded(master.records.assign(created, A)); // Epoch 1.
  }

  /** The grace passes for what no record needs now. */
  void later() throws Exception {
    later(0);
  }

  /** Sweeps, and then the grace of what is swept next is over. */
  void later(int deleted) throws Exception {
    assertThat(sweeper.sweep()).isEqualTo(deleted);
    master.sleep(GRACE);
  }

  String file(long epoch, long number) throws IOException {
    return create(Layout.file(tablet.id(), epoch, number));
  }

  String create(String path) throws IOException {
    Path file = master.layout.resolve(path);
    master.fs.create(file).close();
    master.fs.setTimes(file, 0, 0);
    return path;
  }

  Path directory(String file) {
    return master.layout.resolve(file).getParent();
  }

  boolean exists(String path) throws IOException {
    return master.fs.exists(master.layout.resolve(path));
  }

  void put(List<String> files, Map<String, Long> dropped) {
    put(tablet, files, dropped);
  }

  void put(TabletRecord record, List<String> files, Map<String, Long> dropped) {
    List<FileRef> refs =
        files.stream()
            .map(path -> FileRef.builder(path, 1, RowRange.ALL).sequences(1, 1).build())
            .toList();
    master.memory.put(record.toBuilder().files(refs).dropped(dropped).build());
  }
}
