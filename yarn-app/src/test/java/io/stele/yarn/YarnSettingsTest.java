package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.Keys;
import io.stele.model.SteleException;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

final class YarnSettingsTest {
  private final Configuration conf = new Configuration(false);

  @Test
  void heapCacheOffTheHeapAndTheRestFitTheContainer() {
    for (String memory : new String[] {"640m", "1g", "2g", "16g"}) {
      conf.set(Keys.YARN_TABLETSERVER_MEMORY.name(), memory);
      YarnSettings.Process server = tabletServer();
      assertThat(server.cacheOffHeapMb()).isEqualTo(64);
      long rest = server.memoryMb() - server.heapMb() - server.cacheOffHeapMb();
      assertThat(rest).as(memory).isGreaterThanOrEqualTo(Math.max(192, server.memoryMb() / 4));
      // What the network may take of it beside the cache.
      assertThat(server.directMb() - server.cacheOffHeapMb())
          .as(memory)
          .isBetween(32L, rest * 2 / 3);
    }
  }

  @Test
  void aCacheOffTheHeapIsTheTabletServersAlone() {
    conf.set(Keys.CACHE_BYTES.name(), "400m");
    conf.set(Keys.CACHE_OFF_HEAP_PERCENT.name(), "25");
    YarnSettings.Process master = YarnSettings.of(conf).kinds().get(ComponentKind.MASTER).process();
    assertThat(master.cacheOffHeapMb()).isZero();
    assertThat(master.heapMb()).isEqualTo(512 - 192);
    assertThat(tabletServer().cacheOffHeapMb()).isEqualTo(100);
    assertThat(tabletServer().heapMb()).isEqualTo(1024 - 256 - 100);
  }

  @Test
  void aCacheThatLeavesTooLittleHeapIsRefused() {
    conf.set(Keys.CACHE_BYTES.name(), "2g");
    assertThatThrownBy(() -> YarnSettings.of(conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining(Keys.YARN_TABLETSERVER_MEMORY.name())
        .hasMessageContaining(Keys.CACHE_BYTES.name());
  }

  @Test
  void whatATabletServerCouldNotStartWithIsRefusedWithTheSum() {
    conf.set(Keys.VALUE_BYTES_MAX.name(), "100m");
    assertThatThrownBy(() -> YarnSettings.of(conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("704.0")
        .hasMessageContaining(Keys.YARN_TABLETSERVER_MEMORY.name())
        .hasMessageContaining(Keys.VALUE_BYTES_MAX.name());
    conf.set(Keys.YARN_TABLETSERVER_MEMORY.name(), "6g");
    assertThat(tabletServer().memoryMb()).isEqualTo(6144);
  }

  @Test
  void whoSetsTheHeapByHandIsToldByTheServer() {
    conf.set(Keys.VALUE_BYTES_MAX.name(), "100m");
    conf.set(Keys.YARN_TABLETSERVER_JVM_OPTIONS.name(), "-Xmx4g -XX:MaxDirectMemorySize=1g");
    assertThat(tabletServer().memoryMb()).isEqualTo(1024);
  }

  @Test
  void aContainerThatYarnMadeLargerIsUsed() {
    YarnSettings.Process server = tabletServer();
    assertThat(server.in(1024)).isEqualTo(server);
    assertThat(server.in(2048).heapMb()).isEqualTo(2048 - 512 - 64);
    assertThat(server.in(2048).memoryOptions()).contains("-Xmx1472m");
    assertThat(server.in(512))
        .as("less than asked for: a mistake of the reporter")
        .isEqualTo(server);
  }

  @Test
  void noMoreIsReservedThanYarnAllows() {
    for (String memory : new String[] {"384m", "512m", "1g", "2g", "16g"}) {
      conf.set(Keys.YARN_MASTER_MEMORY.name(), memory);
      YarnSettings.Process process =
          YarnSettings.of(conf).kinds().get(ComponentKind.MASTER).process();
      long reserved =
          process.memoryOptions().stream()
              .filter(option -> option.matches("-X.*?\\d+m"))
              .mapToLong(option -> Long.parseLong(option.replaceAll("\\D", "")))
              .sum();
      // Beside it: Java's own files, two arenas of malloc, stacks of threads, the collector's
      // tables.
      assertThat(reserved + 230 + process.heapMb() / 10)
          .as(memory)
          .isLessThan((long) (process.memoryMb() * 2.1));
    }
  }

  private YarnSettings.Process tabletServer() {
    return YarnSettings.of(conf).kinds().get(ComponentKind.TABLET_SERVER).process();
  }
}
