package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** State files of the attempts of one application. */
final class StateFileTest {
  private final Configuration conf = new Configuration();

  @TempDir private Path directory;

  @Test
  void whatAnEarlierAttemptWritesAfterTheNextHasBegunIsNeverRead() throws Exception {
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    StateFile first = new StateFile(conf, prefix, FakeYarn.attempt(1));
    StateFile second = new StateFile(conf, prefix, FakeYarn.attempt(2));
    assertThat(second.read()).isEmpty();
    first.write(stateNamed("first"));
    assertThat(second.read()).contains(stateNamed("first"));
    second.write(stateNamed("second"));
    first.write(stateNamed("stale"));
    assertThat(new StateFile(conf, prefix, FakeYarn.attempt(3)).read())
        .contains(stateNamed("second"));
    assertThat(new StateFile(conf, prefix, FakeYarn.attempt(1)).read()).isEmpty();
  }

  @Test
  void whoeverAsksReadsWhatTheLatestAttemptWrote() throws Exception {
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    assertThat(StateFile.latest(conf, prefix)).isEmpty();
    new StateFile(conf, prefix, FakeYarn.attempt(2)).write(stateNamed("second"));
    new StateFile(conf, prefix, FakeYarn.attempt(1)).write(stateNamed("stale"));
    assertThat(StateFile.latest(conf, prefix)).contains(stateNamed("second"));
  }

  @Test
  void aStateFileThatIsDamagedIsNamed() throws Exception {
    Files.write(directory.resolve("state." + FakeYarn.attempt(1)), new byte[] {-1, -1, -1});
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    assertThatThrownBy(() -> new StateFile(conf, prefix, FakeYarn.attempt(2)).read())
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("state." + FakeYarn.attempt(1));
  }

  private static ApplicationStateProto stateNamed(String application) {
    return ApplicationStateProto.newBuilder().setApplicationId(application).build();
  }
}
