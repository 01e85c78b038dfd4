package io.stele.cli;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Amount;
import io.stele.model.Filter;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele scan}: reads rows in order. */
@Command(
    name = "scan",
    description = "Read rows in key order.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Each line has row, column, time and value, separated by tabs. Shows at most",
      "100 rows unless --limit is given.",
      "",
      "Examples:",
      "  stele scan webtable --prefix org.apache -c language:",
      "  stele scan webtable --from com.a --to com.b --limit 1000",
      "  stele scan webtable -c language: --filter 'value_is(\"en\")'",
      "  stele scan webtable -c stats --numbers stats:visits",
      "  stele scan webtable --keys --limit 0    show every key",
      "  stele scan webtable --count             show the number of rows and cells"
    })
final class ScanCommand implements Callable<Integer> {
  private static final long LIMIT = 100;

  @Mixin private ClusterOptions cluster;
  @Mixin private ReadOptions read;
  @Mixin private RangeOptions range;
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Show at most this many rows (default: 100); 0: all.")
  private Optional<Long> limit = Optional.empty();

  @Option(names = "--keys", description = "Show only the keys.")
  private boolean keys;

  @Option(
      names = "--count",
      description =
          "Show only the number of rows, and of the cells in them that --versions, -c and the other"
              + " options let through; counts all rows unless --limit is given.")
  private boolean count;

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    long most = limit.orElse(count ? 0L : LIMIT);
    if (most < 0) {
      throw new ParameterException(
          spec.commandLine(), "--limit must not be negative, as " + most + " is; 0 shows all rows");
    }
    CommandLine command = spec.commandLine();
    RowQuery query = needed(read.restrict(RowQuery.ALL.range(range.of(command)), command));
    // One more than is shown tells whether there are more.
    RowQuery limited = most > 0 ? query.limit(most + 1) : query;
    long rows = 0;
    long cells = 0;
    boolean more = false;
    try (Stele stele = cluster.connect();
        Rows found = table(stele, most).readRows(limited)) {
      for (Optional<Row> row = found.readWithoutTimeout();
          row.isPresent() && !more;
          row = found.readWithoutTimeout()) {
        more = most > 0 && rows == most;
        if (!more) {
          rows++;
          cells += row.get().cells().size();
          show(row.get(), out);
        }
      }
    }
    if (count) {
      out.println(
          Amount.of(rows, "row") + ", " + Amount.of(cells, "cell") + (more ? " (and more)" : ""));
    } else if (more && limit.isEmpty()) {
      spec.commandLine()
          .getErr()
          .println(
              "(the first " + most + " rows; there are more: use --limit N, or --limit 0 for all)");
    }
    return ExitCode.DONE.number();
  }

  /** All rows are hardly read again soon: they are not to push others out of the caches. */
  private Table table(Stele stele, long most) throws IOException {
    Table whole = ReadOptions.table(stele, table);
    return most == 0 ? whole.withoutCaching() : whole;
  }

  /** The query, without what is only counted, or neither shown nor counted. */
  private RowQuery needed(RowQuery query) {
    if (!keys && !count) {
      return query;
    }
    RowQuery less = count ? query : query.filter(new Filter.CellsPerRowLimit(1));
    return less.filter(new Filter.StripValue());
  }

  private void show(Row row, PrintWriter out) {
    if (keys) {
      out.println(row.key());
    } else if (!count) {
      read.print(row, out);
    }
  }
}
