package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.thirdparty.protobuf.DescriptorProtos;
import org.apache.hadoop.thirdparty.protobuf.Descriptors;
import org.apache.hadoop.thirdparty.protobuf.DynamicMessage;
import org.apache.hadoop.thirdparty.protobuf.UnknownFieldSet;
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
    assertThat(stateReadBy(second)).contains(stateNamed("first"));
    second.write(stateNamed("second"));
    first.write(stateNamed("stale"));
    assertThat(stateReadBy(new StateFile(conf, prefix, FakeYarn.attempt(3))))
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
        .hasMessageContaining("state." + FakeYarn.attempt(1))
        .hasMessageContaining("move it to another directory");
  }

  @Test
  void aByteThatHasChangedIsNeverReadAsTruth() throws Exception {
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    StateFile first = new StateFile(conf, prefix, FakeYarn.attempt(1));
    StateFile second = new StateFile(conf, prefix, FakeYarn.attempt(2));
    ApplicationStateProto state =
        stateNamed("first").toBuilder()
            .setStopByMillis(1_234_567_890_123L)
            .setNotDrained(3)
            .build();
    first.write(state);
    assertThat(stateReadBy(second)).contains(state);
    Path file = directory.resolve("state." + FakeYarn.attempt(1));
    byte[] whole = Files.readAllBytes(file);
    for (int position = 0; position < whole.length; position++) {
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        byte[] damaged = whole.clone();
        damaged[position] ^= (byte) (1 << bit);
        put(file, damaged);
        assertThatThrownBy(second::read)
            .as("bit %d of byte %d", bit, position)
            .isInstanceOf(CorruptionException.class);
      }
    }
    for (int length = 0; length < whole.length; length++) {
      put(file, Arrays.copyOf(whole, length));
      assertThatThrownBy(second::read).isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void aFileOfAnEarlierVersionIsReadAndEarlierVersionsReadOurs() throws Exception {
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    Path file = directory.resolve("state." + FakeYarn.attempt(1));
    put(file, stateNamed("earlier").toByteArray());
    StateFile second = new StateFile(conf, prefix, FakeYarn.attempt(2));
    assertThat(stateReadBy(second)).contains(stateNamed("earlier"));
    second.write(stateNamed("second"));
    byte[] ours = Files.readAllBytes(directory.resolve("state." + FakeYarn.attempt(2)));
    DynamicMessage readByEarlier = DynamicMessage.parseFrom(withoutChecksum(), ours);
    assertThat(readByEarlier.getUnknownFields().asMap())
        .containsOnlyKeys(ApplicationStateProto.CHECKSUM_FIELD_NUMBER);
    assertThat(
            readByEarlier.toBuilder()
                .setUnknownFields(UnknownFieldSet.getDefaultInstance())
                .build()
                .toByteString())
        .isEqualTo(stateNamed("second").toByteString());
  }

  /** The message as it was before it had a checksum. */
  private static Descriptors.Descriptor withoutChecksum() throws Exception {
    Descriptors.Descriptor now = ApplicationStateProto.getDescriptor();
    DescriptorProtos.FileDescriptorProto.Builder file = now.getFile().toProto().toBuilder();
    DescriptorProtos.DescriptorProto.Builder message = file.getMessageTypeBuilder(now.getIndex());
    message.removeField(
        now.findFieldByNumber(ApplicationStateProto.CHECKSUM_FIELD_NUMBER).getIndex());
    return Descriptors.FileDescriptor.buildFrom(
            file.build(),
            now.getFile().getDependencies().toArray(new Descriptors.FileDescriptor[0]))
        .findMessageTypeByName(now.getName());
  }

  @Test
  void nothingIsLeftOfAnAttemptThatReadsAndNeverWrites() throws Exception {
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    new StateFile(conf, prefix, FakeYarn.attempt(1)).write(stateNamed("first"));
    assertThat(stateReadBy(new StateFile(conf, prefix, FakeYarn.attempt(2)))).isPresent();
    assertThat(names()).containsExactly("state." + FakeYarn.attempt(1));
    Files.createFile(directory.resolve("state." + FakeYarn.attempt(2) + ".tmp")); // It crashed.
    new StateFile(conf, prefix, FakeYarn.attempt(3)).write(stateNamed("third"));
    assertThat(names()).containsExactly("state." + FakeYarn.attempt(3));
  }

  /** Of the files, but for those with checksums of the local file system. */
  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("."))
          .toList();
    }
  }

  @Test
  void theFileSystemTellsHowOldAFileIs() throws Exception {
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    new StateFile(conf, prefix, FakeYarn.attempt(1)).write(stateNamed("first"));
    Path file = directory.resolve("state." + FakeYarn.attempt(1));
    FileTime written = Files.getLastModifiedTime(file);
    Files.setLastModifiedTime(file, FileTime.from(written.toInstant().minus(Duration.ofHours(2))));
    StateFile second = new StateFile(conf, prefix, FakeYarn.attempt(2));
    assertThat(second.read().orElseThrow().age())
        .isBetween(Duration.ofHours(2), Duration.ofHours(3));
    Files.setLastModifiedTime(file, FileTime.from(written.toInstant().plus(Duration.ofHours(2))));
    assertThat(second.read().orElseThrow().age()).isZero();
  }

  /** In place of the file, without the checksum that the local file system keeps beside it. */
  private static void put(Path file, byte[] content) throws IOException {
    Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
    Files.write(file, content);
  }

  private static Optional<ApplicationStateProto> stateReadBy(StateFile file) throws IOException {
    return file.read().map(StateFile.Saved::state);
  }

  private static ApplicationStateProto stateNamed(String application) {
    return ApplicationStateProto.newBuilder().setApplicationId(application).build();
  }
}
