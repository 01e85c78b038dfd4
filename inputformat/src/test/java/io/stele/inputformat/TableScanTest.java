package io.stele.inputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobID;
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
  void theSameScanTwiceIsRefusedWhenTheJobIsSubmitted() throws IOException {
    RowQuery query =
        RowQuery.prefix("com")
            .family("anchor")
            .filter(Filter.newestIs(Column.of("language", ""), Bytes.of("en")));
    Job first = Job.getInstance(new Configuration(false));
    TableInputFormat.addTable(first, "web", query);
    Job copy = Job.getInstance(first.getConfiguration());
    TableInputFormat.addTable(copy, "web", query);
    assertThatThrownBy(() -> new TableInputFormat().getSplits(copy))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("reads table web twice")
        .hasMessageContaining("each row would come twice")
        .hasMessageContaining("a copy of that of another job")
        .hasMessageContaining("mapreduce.stele.input.scans");

    Configuration keys = plain("rows.prefix", "com", "families", "anchor");
    TableScan.add(keys, new TableScan("web", RowQuery.prefix("com").family("anchor")));
    assertThatThrownBy(() -> TableScan.all(keys)).hasMessageContaining("reads table web twice");
  }

  @Test
  void aJobWithTheConfigurationOfOneThatWasSubmittedDoesNotReadItsTables() throws IOException {
    Job first = Job.getInstance(new Configuration(false));
    TableInputFormat.addTable(first, "web", RowQuery.ALL);
    TableInputFormat.pinBeside(first, "beside", RowQuery.ALL);
    TableScan.noteSubmission(first);
    Job early = Job.getInstance(first.getConfiguration());
    TableInputFormat.addTable(early, "other", RowQuery.ALL);
    assertThat(TableScan.all(early.getConfiguration())).as("it was not submitted yet").hasSize(2);

    first.setJobID(new JobID("a", 1));
    TableScan.noteSubmission(first);
    Job copy = Job.getInstance(first.getConfiguration());
    TableInputFormat.pinBeside(copy, "fourth", RowQuery.ALL);
    TableInputFormat.addTable(copy, "other", RowQuery.ALL);
    TableInputFormat.addTable(copy, "third", RowQuery.ALL);
    assertThat(TableScan.all(copy.getConfiguration()))
        .extracting(TableScan::table)
        .containsExactly("other", "third");
    assertThat(TableScan.beside(copy.getConfiguration()))
        .extracting(TableScan::table)
        .containsExactly("fourth");

    // Its submission has failed, and somebody adds what was missing.
    TableInputFormat.addTable(first, "other", RowQuery.ALL);
    assertThat(TableScan.all(first.getConfiguration()))
        .extracting(TableScan::table)
        .containsExactly("web", "other");
  }

  @Test
  void scansThatOverlapAndTheSameQueryOfTwoTablesAreNotRefused() throws IOException {
    Configuration conf = new Configuration(false);
    TableScan.add(conf, new TableScan("web", RowQuery.ALL));
    TableScan.add(conf, new TableScan("web", RowQuery.ALL.family("anchor")));
    TableScan.add(conf, new TableScan("web", RowQuery.prefix("com")));
    TableScan.add(conf, new TableScan("other", RowQuery.ALL));
    assertThat(TableScan.all(conf)).hasSize(4);
  }

  @Test
  void aRowLimitIsRefused() throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    assertThatThrownBy(() -> TableInputFormat.addTable(job, "webtable", RowQuery.ALL.limit(3)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("row limit of 3");
  }

  private static Configuration plain(String... keysAndValues) {
    Configuration conf = new Configuration(false);
    conf.set("mapreduce.stele.input.table", "web");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      conf.set("mapreduce.stele.input.table." + keysAndValues[i], keysAndValues[i + 1]);
    }
    return conf;
  }

  @Test
  void everythingThatAScanSaysCanBeSaidByPlainKeys() throws IOException {
    assertThat(TableScan.all(plain())).containsExactly(new TableScan("web", RowQuery.ALL));
    Configuration conf =
        plain(
            "families", "anchor, a\\x2cb",
            "columns", "language:, a\\x2cb:a\\x2c\\x00",
            "rows.prefix", "com,",
            "rows.ranges", "a:b, x\\x3ay:",
            "versions", "3",
            "times.from", "1767225600000005",
            "times.to", "2026-01-01T00:00:01Z",
            "filter", "chain(value_regex('a,b'), strip_value)");
    RowQuery query =
        new RowQuery(
            List.of(RowRange.prefix("com,"), RowRange.of("a", "b"), RowRange.of("x:y", "")),
            List.of("anchor", "a,b"),
            List.of(Column.of("language", ""), Column.of("a,b", "a,\u0000")),
            3,
            new TimeRange(1_767_225_600_000_005L, 1_767_225_601_000_000L),
            Long.MAX_VALUE,
            Optional.of(Filter.chain(new Filter.ValueRegex("a,b"), new Filter.StripValue())));
    assertThat(TableScan.all(conf)).containsExactly(new TableScan("web", query));
    Configuration both = plain("rows.start", "org\\xff", "rows.end", "p", "rows.ranges", "a:b");
    assertThat(TableScan.all(both).get(0).query().ranges())
        .containsExactly(
            RowRange.of("a", "b"), new RowRange(Bytes.parse("org\\xff"), Bytes.of("p")));
    Configuration open = plain("rows.start", "b", "times.from", "1971-01-01T00:00:00Z");
    assertThat(TableScan.all(open).get(0).query())
        .isEqualTo(
            RowQuery.ALL
                .range(RowRange.of("b", ""))
                .times(new TimeRange(31_536_000_000_000L, Long.MAX_VALUE)));
  }

  private static void refused(String key, String value, String why) {
    assertThatThrownBy(() -> TableScan.all(plain(key, value)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("mapreduce.stele.input.table." + key)
        .hasMessageContaining(why);
  }

  @Test
  void aBadValueIsRefusedByTheNameOfItsKey() {
    refused("families", "a,,b", "");
    refused("families", "a:b", "a:b");
    refused("columns", "language", "family:qualifier");
    refused("columns", "language:\\xzz", "");
    refused("rows.prefix", "\\", "");
    Configuration named = plain();
    named.set("mapreduce.stele.input.table", "ns:pages");
    assertThatThrownBy(() -> TableScan.all(named))
        .hasMessageContaining("mapreduce.stele.input.table is \"ns:pages\"");
    assertThatThrownBy(() -> new TableScan("ns:pages", RowQuery.ALL))
        .hasMessageContaining("cannot name a table");
    refused("rows.start", "\\q", "");
    refused("rows.end", "\\q", "");
    refused("rows.ranges", "a-b", "start:end");
    refused("rows.ranges", "b:a", "start must not be after its end");
    refused("versions", "many", "a whole number");
    refused("versions", "0", "at least 1 version");
    refused("times.from", "yesterday", "write a time such as");
    refused("times.from", "1767225600000", "not in milliseconds");
    refused("times.to", "-1", "microseconds");
    refused("filter", "value_is(en)", "at character 10: a string is needed");
    for (String end : List.of("rows.start", "rows.end")) {
      assertThatThrownBy(() -> TableScan.all(plain("rows.prefix", "com", end, "com.m")))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("input.table." + end + " is set beside")
          .hasMessageContaining("input.table.rows.prefix");
    }
    Configuration backwards = plain("rows.start", "b", "rows.end", "a");
    assertThatThrownBy(() -> TableScan.all(backwards)).hasMessageContaining("rows.end is \"a\"");
    Configuration none = new Configuration(false);
    none.set("mapreduce.stele.input.table.families", "anchor");
    assertThatThrownBy(() -> TableScan.all(none))
        .hasMessageContaining("families is set, but mapreduce.stele.input.table is not");
  }
}
