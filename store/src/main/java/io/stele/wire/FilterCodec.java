package io.stele.wire;

import static io.stele.wire.ByteStrings.bytes;
import static io.stele.wire.ByteStrings.of;

import io.stele.model.Filter;
import io.stele.model.SteleException;
import io.stele.wire.data.DataProtos.ColumnRangeProto;
import io.stele.wire.data.DataProtos.ConditionProto;
import io.stele.wire.data.DataProtos.FilterProto;
import io.stele.wire.data.DataProtos.FiltersProto;
import io.stele.wire.data.DataProtos.ValueRangeProto;
import java.util.List;

/** Filters as messages: a tree as a tree. */
public final class FilterCodec {
  /** How deep filters may be nested: well within what protobuf reads. */
  public static final int DEPTH_MAX = 32;

  private FilterCodec() {}

  /**
   * The message for {@code filter}.
   *
   * @throws SteleException REFUSED where it is nested too deeply
   */
  public static FilterProto encode(Filter filter) {
    return encode(filter, 1);
  }

  /**
   * The filter in {@code message}.
   *
   * @throws SteleException REFUSED where the message is not one of a filter
   */
  public static Filter decode(FilterProto message) {
    try {
      return decode(message, 1);
    } catch (IllegalArgumentException e) {
      throw new SteleException(SteleException.Code.REFUSED, "a filter: " + e.getMessage(), e);
    }
  }

  private static FilterProto encode(Filter filter, int depth) {
    checkDepth(depth);
    FilterProto.Builder to = FilterProto.newBuilder();
    if (filter instanceof Filter.PassAll) {
      to.setPassAll(true);
    } else if (filter instanceof Filter.BlockAll) {
      to.setBlockAll(true);
    } else if (filter instanceof Filter.RowKeyRegex f) {
      to.setRowKeyRegex(f.pattern());
    } else if (filter instanceof Filter.RowSample f) {
      to.setRowSample(f.probability());
    } else if (filter instanceof Filter.FamilyRegex f) {
      to.setFamilyRegex(f.pattern());
    } else if (filter instanceof Filter.QualifierRegex f) {
      to.setQualifierRegex(f.pattern());
    } else if (filter instanceof Filter.ColumnRange f) {
      to.setColumnRange(
          ColumnRangeProto.newBuilder()
              .setFamily(f.family())
              .setStart(of(f.start()))
              .setEnd(of(f.end())));
    } else if (filter instanceof Filter.ColumnIs f) {
      to.setColumnIs(QueryCodec.encode(f.column()));
    } else if (filter instanceof Filter.ValueRegex f) {
      to.setValueRegex(f.pattern());
    } else if (filter instanceof Filter.ValueRange f) {
      to.setValueRange(ValueRangeProto.newBuilder().setStart(of(f.start())).setEnd(of(f.end())));
    } else if (filter instanceof Filter.ValueIs f) {
      to.setValueIs(of(f.value()));
    } else if (filter instanceof Filter.TimestampRange f) {
      to.setTimestampRange(QueryCodec.encode(f.range()));
    } else if (filter instanceof Filter.CellsPerRowLimit f) {
      to.setCellsPerRowLimit(f.count());
    } else if (filter instanceof Filter.CellsPerRowOffset f) {
      to.setCellsPerRowOffset(f.count());
    } else if (filter instanceof Filter.CellsPerColumnLimit f) {
      to.setCellsPerColumnLimit(f.count());
    } else if (filter instanceof Filter.StripValue) {
      to.setStripValue(true);
    } else if (filter instanceof Filter.Label f) {
      to.setLabel(f.label());
    } else if (filter instanceof Filter.Chain f) {
      to.setChain(encode(f.filters(), depth));
    } else if (filter instanceof Filter.Interleave f) {
      to.setInterleave(encode(f.filters(), depth));
    } else if (filter instanceof Filter.Condition f) {
      to.setCondition(
          ConditionProto.newBuilder()
              .setPredicate(encode(f.predicate(), depth + 1))
              .setIfTrue(encode(f.ifTrue(), depth + 1))
              .setIfFalse(encode(f.ifFalse(), depth + 1)));
    } else {
      throw new IllegalStateException("no message for " + filter);
    }
    return to.build();
  }

  private static FiltersProto encode(List<Filter> filters, int depth) {
    FiltersProto.Builder to = FiltersProto.newBuilder();
    filters.forEach(filter -> to.addFilters(encode(filter, depth + 1)));
    return to.build();
  }

  private static Filter decode(FilterProto from, int depth) {
    checkDepth(depth);
    return switch (from.getFilterCase()) {
      case PASS_ALL -> new Filter.PassAll();
      case BLOCK_ALL -> new Filter.BlockAll();
      case ROW_KEY_REGEX -> new Filter.RowKeyRegex(from.getRowKeyRegex());
      case ROW_SAMPLE -> new Filter.RowSample(from.getRowSample());
      case FAMILY_REGEX -> new Filter.FamilyRegex(from.getFamilyRegex());
      case QUALIFIER_REGEX -> new Filter.QualifierRegex(from.getQualifierRegex());
      case COLUMN_RANGE -> {
        ColumnRangeProto range = from.getColumnRange();
        yield new Filter.ColumnRange(
            range.getFamily(), bytes(range.getStart()), bytes(range.getEnd()));
      }
      case COLUMN_IS -> new Filter.ColumnIs(QueryCodec.decode(from.getColumnIs()));
      case VALUE_REGEX -> new Filter.ValueRegex(from.getValueRegex());
      case VALUE_RANGE ->
          new Filter.ValueRange(
              bytes(from.getValueRange().getStart()), bytes(from.getValueRange().getEnd()));
      case VALUE_IS -> new Filter.ValueIs(bytes(from.getValueIs()));
      case TIMESTAMP_RANGE ->
          new Filter.TimestampRange(QueryCodec.decode(from.getTimestampRange()));
      case CELLS_PER_ROW_LIMIT -> new Filter.CellsPerRowLimit(from.getCellsPerRowLimit());
      case CELLS_PER_ROW_OFFSET -> new Filter.CellsPerRowOffset(from.getCellsPerRowOffset());
      case CELLS_PER_COLUMN_LIMIT -> new Filter.CellsPerColumnLimit(from.getCellsPerColumnLimit());
      case STRIP_VALUE -> new Filter.StripValue();
      case LABEL -> new Filter.Label(from.getLabel());
      case CHAIN -> new Filter.Chain(decode(from.getChain(), depth));
      case INTERLEAVE -> new Filter.Interleave(decode(from.getInterleave(), depth));
      case CONDITION -> {
        ConditionProto condition = from.getCondition();
        yield new Filter.Condition(
            decode(condition.getPredicate(), depth + 1),
            decode(condition.getIfTrue(), depth + 1),
            decode(condition.getIfFalse(), depth + 1));
      }
      case FILTER_NOT_SET ->
          throw SteleException.refused("a filter is empty or of a kind not known here");
    };
  }

  private static List<Filter> decode(FiltersProto from, int depth) {
    return from.getFiltersList().stream().map(filter -> decode(filter, depth + 1)).toList();
  }

  private static void checkDepth(int depth) {
    if (depth > DEPTH_MAX) {
      throw SteleException.refused("filters may be nested " + DEPTH_MAX + " deep, not deeper");
    }
  }
}
