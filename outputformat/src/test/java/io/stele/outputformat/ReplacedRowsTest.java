package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class ReplacedRowsTest {
  private final Configuration conf = new Configuration(false);

  private void replaceRows(int count) {
    for (int i = 0; i < count; i++) {
      ReplacedRows.add(conf, new ReplacedRows("t", RowRange.single(Bytes.of("row:" + i + ","))));
    }
  }

  @Test
  void rangesAreKeptInTheConfiguration() {
    replaceRows(ReplacedRows.RANGES_MAX);
    assertThat(ReplacedRows.all(conf))
        .hasSize(ReplacedRows.RANGES_MAX)
        .last()
        .isEqualTo(new ReplacedRows("t", RowRange.single(Bytes.of("row:199,"))));
  }

  @Test
  void rowsInACopyOfASubmittedConfigurationAreRefusedUntilTheyAreNamedAgain() {
    ReplacedRows.checkNotOfAnotherJob(conf);
    replaceRows(1);
    ReplacedRows.checkNotOfAnotherJob(conf);
    ReplacedRows.setSubmitted(conf);
    Configuration copy = new Configuration(conf);
    assertThatThrownBy(() -> ReplacedRows.checkNotOfAnotherJob(copy))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("mapreduce.stele.output.bulk.replace is \"t:")
        .hasMessageContaining("or else remove the key");

    ReplacedRows again = new ReplacedRows("t", RowRange.of("a", "b"));
    ReplacedRows.add(copy, again);
    ReplacedRows.add(copy, new ReplacedRows("t", RowRange.of("c", "d")));
    ReplacedRows.checkNotOfAnotherJob(copy);
    assertThat(ReplacedRows.all(copy)).hasSize(2).first().isEqualTo(again);

    conf.set(ReplacedRows.KEY, "other");
    ReplacedRows.checkNotOfAnotherJob(conf);
    conf.unset(ReplacedRows.KEY);
    ReplacedRows.checkNotOfAnotherJob(conf);
  }

  @Test
  void moreRangesThanFilesCanBeDividedByAreRefused() {
    replaceRows(ReplacedRows.RANGES_MAX + 1);
    assertThatThrownBy(() -> ReplacedRows.all(conf))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("at most 200");
  }
}
