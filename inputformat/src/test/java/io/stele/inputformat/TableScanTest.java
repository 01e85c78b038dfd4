package io.stele.inputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.Test;

class TableScanTest {
  @Test
  void theScansOfAJobComeBackAsTheyWereAdded() throws IOException {
    TableScan first =
        new TableScan(
            "webtable",
            RowQuery.ALL
                .range(RowRange.of("a", "b"))
                .range(new RowRange(Bytes.of(new byte[] {0, -1}), Bytes.EMPTY))
                .family("anchor")
                .versions(1)
                .filter(Filter.newestIs(Column.of("language", ""), Bytes.of("en"))));
    TableScan second = new TableScan("other.table", RowQuery.ALL);
    Configuration conf = new Configuration(false);
    TableScan.add(conf, first);
    TableScan.add(conf, second);
    assertThat(TableScan.all(conf)).containsExactly(first, second);
  }

  @Test
  void aJobWithoutATableIsRefused() {
    assertThatThrownBy(() -> TableScan.all(new Configuration(false)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("addTable");
  }

  @Test
  void aRowLimitIsRefused() throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    assertThatThrownBy(() -> TableInputFormat.addTable(job, "webtable", RowQuery.ALL.limit(3)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("row limit of 3");
  }
}
