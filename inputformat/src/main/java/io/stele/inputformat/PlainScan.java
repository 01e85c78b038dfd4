package io.stele.inputformat;

import io.stele.config.JobKeys;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.FilterText;
import io.stele.model.Limits;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import io.stele.model.Timestamps;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.apache.hadoop.conf.Configuration;

/**
 * Reads a scan from plain keys of a job's configuration, for jobs that are set up without code.
 * Every part of a {@link TableScan} has a key. {@link Bytes#parse} reads rows and columns, so a
 * separator in them can be written as {@code \xNN}.
 */
final class PlainScan {
  /** What of the query one key says. */
  private record Part(String key, BiFunction<RowQuery, String, RowQuery> meaning) {}

  private static final List<Part> PARTS =
      List.of(
          new Part(JobKeys.INPUT_FAMILIES, PlainScan::families),
          new Part(JobKeys.INPUT_COLUMNS, PlainScan::columns),
          new Part(JobKeys.INPUT_ROWS_PREFIX, PlainScan::prefix),
          new Part(JobKeys.INPUT_ROWS_START, PlainScan::start),
          new Part(JobKeys.INPUT_ROWS_END, (query, text) -> query), // With the start.
          new Part(JobKeys.INPUT_ROWS_RANGES, PlainScan::ranges),
          new Part(JobKeys.INPUT_VERSIONS, PlainScan::versions),
          new Part(JobKeys.INPUT_TIMES_FROM, PlainScan::from),
          new Part(JobKeys.INPUT_TIMES_TO, PlainScan::to),
          new Part(JobKeys.INPUT_FILTER, PlainScan::filter));

  private PlainScan() {}

  /**
   * The scan that {@code conf} describes, if any.
   *
   * @throws SteleException REFUSED, naming the key, if a value is bad, or there are keys but no
   *     table
   */
  static Optional<TableScan> of(Configuration conf) {
    String table = conf.getTrimmed(JobKeys.INPUT_TABLE, "");
    RowQuery query = RowQuery.ALL;
    for (Part part : PARTS) {
      String text = conf.get(part.key, "");
      if (!text.isEmpty()) {
        if (table.isEmpty()) {
          throw SteleException.refused(
              part.key + " is set, but " + JobKeys.INPUT_TABLE + " is not");
        }
        query = apply(part.key, text, query, part.meaning);
      }
    }
    if (table.isEmpty()) {
      return Optional.empty();
    }
    query = apply(JobKeys.INPUT_TABLE, table, query, PlainScan::name);
    return Optional.of(new TableScan(table, startToEnd(conf, query)));
  }

  private static RowQuery apply(
      String key, String text, RowQuery query, BiFunction<RowQuery, String, RowQuery> meaning) {
    try {
      return meaning.apply(query, text);
    } catch (NumberFormatException e) {
      throw SteleException.refused(key + " is \"" + text + "\": it must be a whole number");
    } catch (IllegalArgumentException | SteleException e) {
      throw SteleException.refused(key + " is \"" + text + "\": " + e.getMessage());
    }
  }

  private static RowQuery startToEnd(Configuration conf, RowQuery query) {
    String start = conf.get(JobKeys.INPUT_ROWS_START, "");
    String end = conf.get(JobKeys.INPUT_ROWS_END, "");
    if (start.isEmpty() && end.isEmpty()) {
      return query;
    }
    if (!conf.get(JobKeys.INPUT_ROWS_PREFIX, "").isEmpty()) {
      throw SteleException.refused(
          (start.isEmpty() ? JobKeys.INPUT_ROWS_END : JobKeys.INPUT_ROWS_START)
              + " is set beside "
              + JobKeys.INPUT_ROWS_PREFIX
              + ": set either the prefix or a range; further ranges go to "
              + JobKeys.INPUT_ROWS_RANGES);
    }
    return apply(JobKeys.INPUT_ROWS_END, end, query, (all, text) -> all.range(range(start, text)));
  }

  /** Only checks it. */
  private static RowQuery name(RowQuery query, String text) {
    Limits.checkTableName(text);
    return query;
  }

  private static RowRange range(String start, String end) {
    return new RowRange(Bytes.parse(start), Bytes.parse(end));
  }

  private static RowQuery prefix(RowQuery query, String text) {
    return query.range(RowRange.prefix(Bytes.parse(text)));
  }

  /** Only checks it: which rows end where is known with the end. */
  private static RowQuery start(RowQuery query, String text) {
    Bytes.parse(text);
    return query;
  }

  private static RowQuery versions(RowQuery query, String text) {
    return query.versions(Integer.parseInt(text));
  }

  private static RowQuery filter(RowQuery query, String text) {
    return query.filter(FilterText.parse(text));
  }

  private static RowQuery families(RowQuery query, String text) {
    RowQuery with = query;
    for (String family : text.split(",", -1)) {
      with = with.family(Bytes.parse(family.strip()).toUtf8());
    }
    return with;
  }

  private static RowQuery columns(RowQuery query, String text) {
    RowQuery with = query;
    for (String column : text.split(",", -1)) {
      String[] parts = column.strip().split(":", 2);
      if (parts.length < 2) {
        throw new IllegalArgumentException("write columns as family:qualifier");
      }
      with = with.column(new Column(Bytes.parse(parts[0]).toUtf8(), Bytes.parse(parts[1])));
    }
    return with;
  }

  private static RowQuery ranges(RowQuery query, String text) {
    RowQuery with = query;
    for (String range : text.split(",", -1)) {
      String[] ends = range.split(":", -1);
      if (ends.length != 2) {
        throw new IllegalArgumentException(
            "write ranges as start:end, with \\x3a for a colon and \\x2c for a comma");
      }
      with = with.range(range(ends[0].strip(), ends[1].strip()));
    }
    return with;
  }

  private static RowQuery from(RowQuery query, String text) {
    return query.times(new TimeRange(Timestamps.parse(text.strip()), query.times().toMicros()));
  }

  private static RowQuery to(RowQuery query, String text) {
    return query.times(new TimeRange(query.times().fromMicros(), Timestamps.parse(text.strip())));
  }
}
