package io.stele.wire;

import io.stele.model.Column;
import io.stele.model.Limits;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TimeRange;
import io.stele.wire.data.DataProtos.ColumnProto;
import io.stele.wire.data.DataProtos.QueryProto;
import io.stele.wire.data.DataProtos.RowRangeProto;
import io.stele.wire.data.DataProtos.TabletProto;
import io.stele.wire.data.DataProtos.TimeRangeProto;
import java.io.IOException;
import java.util.Base64;
import java.util.Optional;

/** What to read, and of which tablet, as messages. */
public final class QueryCodec {
  private QueryCodec() {}

  /** The message for {@code query}. */
  public static QueryProto encode(RowQuery query) {
    QueryProto.Builder to = QueryProto.newBuilder();
    query.ranges().forEach(range -> to.addRanges(encode(range)));
    to.addAllFamilies(query.families());
    query.columns().forEach(column -> to.addColumns(encode(column)));
    if (query.versions() != Integer.MAX_VALUE) {
      to.setVersions(query.versions());
    }
    if (!query.times().equals(TimeRange.ALL)) {
      to.setTimes(encode(query.times()));
    }
    if (query.rowLimit() != Long.MAX_VALUE) {
      to.setRowLimit(query.rowLimit());
    }
    query.filter().ifPresent(filter -> to.setFilter(FilterCodec.encode(filter)));
    return to.build();
  }

  /** A query as text, such as for a configuration. */
  public static String toText(RowQuery query) {
    return Base64.getEncoder().encodeToString(encode(query).toByteArray());
  }

  /**
   * The query in a text of {@link #toText}.
   *
   * @throws IOException if the text is not one of a query
   * @throws SteleException REFUSED likewise
   */
  public static RowQuery ofText(String text) throws IOException {
    return query(QueryProto.parseFrom(Base64.getDecoder().decode(text)));
  }

  /**
   * The query in {@code message}, which is part of a request.
   *
   * @throws SteleException REFUSED if the message is not one of a query, or asks for more than one
   *     request may
   */
  public static RowQuery decode(QueryProto message) {
    Limits.checkRequestRanges(message.getRangesCount());
    return query(message);
  }

  private static RowQuery query(QueryProto message) {
    // Before objects are made of them.
    Limits.checkQueryColumns((long) message.getFamiliesCount() + message.getColumnsCount());
    try {
      return new RowQuery(
          message.getRangesList().stream().map(QueryCodec::decode).toList(),
          message.getFamiliesList(),
          message.getColumnsList().stream().map(QueryCodec::decode).toList(),
          message.hasVersions() ? message.getVersions() : Integer.MAX_VALUE,
          message.hasTimes() ? decode(message.getTimes()) : TimeRange.ALL,
          message.hasRowLimit() ? message.getRowLimit() : Long.MAX_VALUE,
          message.hasFilter()
              ? Optional.of(FilterCodec.decode(message.getFilter()))
              : Optional.empty());
    } catch (IllegalArgumentException e) {
      throw new SteleException(
          SteleException.Code.REFUSED, "a query cannot be decoded: " + e.getMessage(), e);
    }
  }

  /** The message that names {@code tablet} as assigned for the {@code epoch}-th time. */
  public static TabletProto encode(TabletId tablet, long epoch) {
    return TabletProto.newBuilder()
        .setTableId(tablet.table().value())
        .setTablet(tablet.name())
        .setEpoch(epoch)
        .build();
  }

  /**
   * The tablet that {@code message} names; its epoch, if any, is in the message.
   *
   * @throws SteleException REFUSED if it cannot name a tablet
   */
  public static TabletId decode(TabletProto message) {
    try {
      return new TabletId(new TableId(message.getTableId()), message.getTablet());
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
  }

  static RowRangeProto encode(RowRange range) {
    return RowRangeProto.newBuilder()
        .setStart(ByteStrings.of(range.start()))
        .setEnd(ByteStrings.of(range.end()))
        .build();
  }

  static RowRange decode(RowRangeProto range) {
    return ByteStrings.range(range.getStart(), range.getEnd());
  }

  static ColumnProto encode(Column column) {
    return ColumnProto.newBuilder()
        .setFamily(column.family())
        .setQualifier(ByteStrings.of(column.qualifier()))
        .build();
  }

  static Column decode(ColumnProto column) {
    return new Column(column.getFamily(), ByteStrings.bytes(column.getQualifier()));
  }

  static TimeRangeProto encode(TimeRange range) {
    return TimeRangeProto.newBuilder().setFrom(range.fromMicros()).setTo(range.toMicros()).build();
  }

  static TimeRange decode(TimeRangeProto range) {
    return new TimeRange(range.getFrom(), range.getTo());
  }
}
