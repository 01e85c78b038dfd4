package io.stele.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

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
    assertThatThrownBy(() -> Keys.check(conf)).hasMessageContaining("4096 to");
  }

  @Test
  void aLeaseAboveTheSessionTimeoutIsRefused() {
    conf.set(Keys.LEASE.name(), "20s");
    assertThatThrownBy(() -> Keys.check(conf)).hasMessageContaining("is above");
  }

  @Test
  void sizesAndTimesHaveUnits() {
    conf.set(Keys.MEMTABLE_BYTES.name(), "2m");
    conf.set(Keys.LEASE.name(), "1500ms");
    assertThat(Keys.MEMTABLE_BYTES.in(conf)).isEqualTo(2 << 20);
    assertThat(Keys.LEASE.in(conf)).isEqualTo(Duration.ofMillis(1500));
  }
}
