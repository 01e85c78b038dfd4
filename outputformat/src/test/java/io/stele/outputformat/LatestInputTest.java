package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class LatestInputTest {
  private static Configuration reading(String how, String format) {
    Configuration conf = new Configuration(false);
    conf.set("mapreduce.stele.input.read", how);
    conf.set("mapreduce.job.inputformat.class", format);
    return conf;
  }

  private static final String TABLES = "io.stele.inputformat.TableInputFormat";
  private static final String TEXTS = "org.apache.hadoop.mapreduce.lib.input.TextInputFormat";

  @Test
  void theLatestRowsOfTablesAreAllowedOnlyIfSomebodySaysSo() {
    Configuration conf = reading("latest", TABLES);
    assertThatThrownBy(() -> LatestInput.check(conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("mapreduce.stele.input.read is latest")
        .hasMessageContaining("set mapreduce.stele.output.latest.allowed to true");
    conf.set("mapreduce.stele.output.latest.allowed", "yes");
    assertThatThrownBy(() -> LatestInput.check(conf)).hasMessageContaining("true or false");
    conf.set("mapreduce.stele.output.latest.allowed", "true");
    assertThatCode(() -> LatestInput.check(conf)).doesNotThrowAnyException();
  }

  @Test
  void whatIsPinnedOrNoTableIsAllowed() {
    assertThatCode(() -> LatestInput.check(reading("pinned", TABLES))).doesNotThrowAnyException();
    assertThatCode(() -> LatestInput.check(reading("latest", TEXTS))).doesNotThrowAnyException();
    assertThatCode(() -> LatestInput.check(new Configuration(false))).doesNotThrowAnyException();
  }
}
