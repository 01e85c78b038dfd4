package io.stele.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeysTest {
  private final Configuration conf = new Configuration(false);

  @Test
  void everyDefaultIsAllowed() {
    assertThat(Keys.all()).isNotEmpty();
    Keys.all().values().forEach(key -> assertThat(key.in(conf)).as(key.name()).isNotNull());
    Keys.check(conf);
  }

  @Test
  void everyKeyIsNamedAndDocumented() {
    Keys.all()
        .forEach(
            (name, key) -> {
              assertThat(name).startsWith("stele.").isEqualTo(key.name());
              assertThat(key.doc()).endsWith(".");
            });
  }

  @Test
  void anUnknownKeyIsRefusedWithTheNearestKnownOne() {
    conf.set("stele.tabletserver.memtable.byte", "1m");
    assertThatThrownBy(() -> Keys.check(conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("stele.tabletserver.memtable.byte ")
        .hasMessageContaining("did you mean stele.tabletserver.memtable.bytes?");
  }

  @Test
  void whereAWrongKeyOrValueIsFromIsSaid(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("stele-site.xml");
    Configuration written = new Configuration(false);
    written.set("stele.cluster.nam", "x");
    try (OutputStream site = Files.newOutputStream(file)) {
      written.writeXml(site);
    }
    Configuration read = new Configuration(false);
    read.addResource(new org.apache.hadoop.fs.Path(file.toUri()));
    assertThatThrownBy(() -> Keys.check(read))
        .hasMessageContaining("(value \"x\", from file:" + file + ")");

    conf.set("stele.cluster.nam", "x", Key.COMMAND_LINE);
    assertThatThrownBy(() -> Keys.check(conf))
        .hasMessageContaining("(value \"x\", given by -D)")
        .hasMessageNotContaining("stele-site.xml");
    conf.unset("stele.cluster.nam");
    conf.set(Keys.LEASE.name(), "soon", Key.COMMAND_LINE);
    assertThatThrownBy(() -> Keys.check(conf))
        .hasMessageContaining("\"soon\" (given by -D), which is not allowed");
    conf.set(Keys.LEASE.name(), "soon");
    assertThatThrownBy(() -> Keys.check(conf)).hasMessageContaining("(set by the program)");
  }

  @Test
  void keysOfOthersAreLeftAlone() {
    conf.set("fs.defaultFS", "hdfs://nowhere");
    Keys.check(conf);
  }

  @Test
  void aWrongValueIsRefusedWithWhatIsAllowed() {
    conf.set(Keys.MEMTABLE_BYTES.name(), "plenty");
    assertThatThrownBy(() -> Keys.check(conf))
        .hasMessageContaining("stele.tabletserver.memtable.bytes")
        .hasMessageContaining("\"plenty\"")
        .hasMessageContaining("64m");
    conf.set(Keys.MEMTABLE_BYTES.name(), "1");
    assertThatThrownBy(() -> Keys.check(conf)).hasMessageContaining("4k to");
  }

  @Test
  void whatIsNoTimeIsRefused() {
    for (String none :
        List.of("", "s", "ms", "5", "1.5s", "9".repeat(18) + "h", "9".repeat(30) + "s")) {
      assertThatThrownBy(() -> Keys.LEASE.parse(none))
          .as(none)
          .isInstanceOf(SteleException.class)
          .hasMessageContaining(Keys.LEASE.name());
    }
  }

  @Test
  void aLeaseAboveTheSessionTimeoutIsRefused() {
    conf.set(Keys.LEASE.name(), "20s");
    assertThatThrownBy(() -> Keys.check(conf)).hasMessageContaining("is above");
  }

  @Test
  void rangesAreShownAsTheyAreWritten() {
    String ranges =
        Keys.all().values().stream().map(Key::allowed).collect(Collectors.joining("\n"));
    assertThat(ranges)
        .contains(", 10ms to 1h", "4k or more")
        .doesNotContainPattern("[0-9]{7}|[0-9]0000ms");
  }

  @Test
  void aMisspelledNameIsAtMostTwoLettersOff() {
    assertThat(Keys.misspelled("userz", List.of("users", "user", "uvw"))).hasValue("users");
    assertThat(Keys.misspelled("userz", List.of("pages", "us"))).isEmpty();
  }

  @Test
  void sizesAndTimesHaveUnits() {
    conf.set(Keys.MEMTABLE_BYTES.name(), "2m");
    conf.set(Keys.LEASE.name(), "1500ms");
    assertThat(Keys.MEMTABLE_BYTES.in(conf)).isEqualTo(2 << 20);
    assertThat(Keys.LEASE.in(conf)).isEqualTo(Duration.ofMillis(1500));
  }
}
