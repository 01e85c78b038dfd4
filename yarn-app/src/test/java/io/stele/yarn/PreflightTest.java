package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

final class PreflightTest {
  private static final Duration WINDOW = Duration.ofMinutes(5);

  private final Configuration conf = new Configuration(false);

  @Test
  void fewAttemptsAreSaidWithWhatToSet() {
    assertThat(Preflight.attemptsWarning(conf, WINDOW).orElseThrow())
        .contains("2 times within 5 minutes", "yarn.resourcemanager.am.global.max-attempts to 10");
    conf.set("yarn.resourcemanager.am.max-attempts", "3");
    assertThat(Preflight.attemptsWarning(conf, WINDOW).orElseThrow()).contains("3 times");
  }

  @Test
  void ofSeveralResourceManagersAllAreNamed() {
    conf.set("yarn.resourcemanager.address", "plain:1");
    IOException failure = new IOException("planted");
    assertThat(Preflight.noAnswer(conf, failure)).hasMessageContaining("answers at plain:1 (");
    conf.setBoolean("yarn.resourcemanager.ha.enabled", true);
    conf.set("yarn.resourcemanager.ha.rm-ids", "one,two");
    conf.set("yarn.resourcemanager.hostname.one", "first");
    conf.set("yarn.resourcemanager.address.two", "second:8099");
    assertThat(Preflight.noAnswer(conf, failure))
        .hasMessageContaining("answers at first:8032, second:8099 (planted)");
  }

  @Test
  void enoughAttemptsAreNothingToSay() {
    conf.set("yarn.resourcemanager.am.global.max-attempts", "10");
    assertThat(Preflight.attemptsWarning(conf, WINDOW)).isEmpty();
    conf.unset("yarn.resourcemanager.am.global.max-attempts");
    conf.set("yarn.resourcemanager.am.max-attempts", "20");
    assertThat(Preflight.attemptsWarning(conf, WINDOW)).isEmpty();
  }
}
