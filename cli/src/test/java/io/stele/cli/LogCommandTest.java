package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.Keys;
import io.stele.format.CellBlockWriter;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.log.LogRecord;
import io.stele.log.Segment;
import io.stele.log.SegmentSummary;
import io.stele.log.WholeFence;
import io.stele.metadata.Layout;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code stele log} on a log that a tablet server has left on the local file system. */
@Timeout(120)
class LogCommandTest {
  private static final ServerId SERVER = new ServerId("host", 7021, 1_700_000_000_000L);
  private static final TabletId FIRST = new TabletId(new TableId("t1"), "00000000000000a1");
  private static final TabletId SECOND = new TabletId(new TableId("t1"), "00000000000000a2");

  @TempDir private java.nio.file.Path temporary;

  private String root;
  private FileSystem fs;
  private List<Segment> used; // The first has records of FIRST, the second of SECOND.

  private Ran stele(String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    all.addAll(List.of("-D", Keys.ROOT_DIR.name() + "=" + root));
    return Ran.of(all);
  }

  @BeforeEach
  void leaveALog() throws Exception {
    root = temporary.resolve("stele").toUri().toString();
    fs = new Path(root).getFileSystem(new Configuration(false));
    Layout layout = Layout.openOrCreate(SystemRuntime.INSTANCE, fs, new Path(root));
    Path directory = new Path(new Path(root, "logs"), SERVER.toString());
    fs.mkdirs(directory.getParent());
    LogDirectory.create(fs, directory);
    try (CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, directory, SERVER, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {})) {
      append(log, FIRST, 3);
      log.roll();
      while (log.oldestNeeded().orElseThrow().beingWritten()) {
        Thread.onSpinWait(); // Until JUnit's time limit.
      }
      append(log, SECOND, 2);
    }
    Path fenced = new Path(layout.recovery(), SERVER.toString());
    assertThat(WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, fs), directory, fenced))
        .isPresent();
    used = new ArrayList<>();
    for (Segment segment : LogDirectory.segments(fs, fenced)) {
      if (SegmentSummary.read(fs, segment).filter(s -> !s.tablets().isEmpty()).isPresent()) {
        used.add(segment);
      }
    }
    assertThat(used).hasSize(2);
  }

  private static void append(CommitLog log, TabletId tablet, int count) throws Exception {
    CompletableFuture<?> last = CompletableFuture.completedFuture(null);
    for (long sequence = 1; sequence <= count; sequence++) {
      CellBlockWriter cells = CellBlockWriter.sequential(100);
      byte[] key = ColumnKey.of(Bytes.of("row" + sequence), "f", Bytes.of("q"));
      cells.add(key, 1000, sequence, 0, CellType.PUT, Bytes.of("value"));
      Bytes block = Bytes.wrap(cells.finish().toByteArray());
      last = log.append(new LogRecord(tablet, sequence, 1000, Optional.empty(), block));
    }
    last.get();
  }

  /** Changes a byte in the middle of a segment, as a disk might. */
  private static void damage(Segment segment) throws Exception {
    java.nio.file.Path file = java.nio.file.Path.of(segment.path().toUri());
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 3] ^= 0x40;
    Files.write(file, bytes);
    // What Hadoop's local file system would find, and HDFS could not if it were damaged before.
    Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
  }

  private static String name(Segment segment) {
    return segment.path().getName();
  }

  @Test
  void aSoundLogHasNothingToAccept() {
    Ran check = stele("log", "check");
    assertThat(check.exit()).as(check.err()).isZero();
    assertThat(check.out()).contains("1 log, 0 damaged segments");

    Ran accept = stele("log", "accept-loss", SERVER.toString(), name(used.get(0)), "--yes");
    assertThat(accept.exit()).isEqualTo(ExitCode.REFUSED.number());
    assertThat(accept.err()).contains("is not damaged");
    assertThat(stele("log", "accept-loss", "no_1_2", "user-1.log", "--yes").exit())
        .isEqualTo(ExitCode.NOT_FOUND.number());
  }

  @Test
  void aMissingSegmentIsShownWithTheTabletsWhoseRecordsItHad() throws Exception {
    fs.delete(used.get(0).path(), false);
    Ran check = stele("log", "check");
    assertThat(check.exit()).isEqualTo(ExitCode.CORRUPTION.number());
    assertThat(check.out())
        .contains("log " + SERVER + " segment " + name(used.get(0)))
        .contains(FIRST.toString())
        .doesNotContain(SECOND.toString())
        .contains("written before ")
        .contains("stele log accept-loss " + SERVER + " " + name(used.get(0)))
        .contains("1 log, 1 damaged segment whose loss is not accepted");
  }

  @Test
  void damageIsShownAndNothingIsGivenUpWithoutYes() throws Exception {
    damage(used.get(0));
    Ran asked = stele("log", "accept-loss", SERVER.toString(), name(used.get(0)));
    assertThat(asked.exit()).isEqualTo(ExitCode.REFUSED.number());
    assertThat(asked.out()).contains(FIRST.toString());
    assertThat(asked.err()).contains("nothing was changed", "--yes");
    assertThat(stele("log", "check").exit()).isEqualTo(ExitCode.CORRUPTION.number());
  }

  @Test
  void anAcceptedLossIsShownAndWaitsForNobody() throws Exception {
    damage(used.get(0));
    Ran accepted = stele("log", "accept-loss", SERVER.toString(), name(used.get(0)), "--yes");
    assertThat(accepted.exit()).as(accepted.err()).isZero();
    assertThat(accepted.out()).contains(FIRST.toString(), "Accepted");
    Ran check = stele("log", "check");
    assertThat(check.exit()).isZero();
    assertThat(check.out()).contains("its loss is accepted", "0 damaged segments");

    fs.delete(used.get(1).path(), false); // More is lost later: it was not accepted.
    assertThat(stele("log", "check").exit()).isEqualTo(ExitCode.CORRUPTION.number());
  }

  @Test
  void ofTheLastSegmentItIsNotKnownWhoseRecordsItHad() throws Exception {
    fs.delete(used.get(1).path(), false);
    Ran check = stele("log", "check");
    assertThat(check.exit()).isEqualTo(ExitCode.CORRUPTION.number());
    assertThat(check.out())
        .contains("segment " + name(used.get(1)))
        .contains("written after ")
        .contains("whose records it had is not known: any tablet of that server");
  }
}
