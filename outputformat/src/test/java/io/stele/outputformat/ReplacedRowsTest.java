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
  void moreRangesThanFilesCanBeDividedByAreRefused() {
    replaceRows(ReplacedRows.RANGES_MAX + 1);
    assertThatThrownBy(() -> ReplacedRows.all(conf))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("at most 200");
  }
}
