package io.stele.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.AcceptedLosses.Loss;
import io.stele.model.CorruptionException;
import io.stele.sim.CrashableFileSystem;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class AcceptedLossesTest {
  private static final Path DIRECTORY = new Path("crash:/recovery/s,1,1");

  private final CrashableFileSystem fs = CrashableFileSystem.create();

  @Test
  void howeverManyWereWrittenAllAreRead() throws Exception {
    fs.mkdirs(DIRECTORY);
    Set<Loss> losses = new TreeSet<>();
    for (long offset = 0; offset < 50_000; offset++) {
      losses.add(new Loss("user-0000000000000001.log", offset));
    }
    AcceptedLosses.write(fs, DIRECTORY, "first", losses);
    assertThat(fs.getFileStatus(AcceptedLosses.file(DIRECTORY, "first")).getLen())
        .isGreaterThan(1 << 20);

    AcceptedLosses read = AcceptedLosses.read(fs, DIRECTORY);

    for (Loss loss : losses) {
      Path segment = new Path(DIRECTORY, loss.segment());
      assertThat(read.has(new CorruptionException(segment.toString(), loss.offset(), "damage")))
          .isTrue();
    }
  }
}
