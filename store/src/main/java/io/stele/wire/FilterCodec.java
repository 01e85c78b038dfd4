package io.stele.wire;

import static io.stele.wire.ByteStrings.bytes;
import static io.stele.wire.ByteStrings.of;

import io.stele.model.Filter;
import io.stele.model.Limits;
import io.stele.model.SteleException;
import io.stele.wire.data.DataProtos.ColumnRangeProto;
import io.stele.wire.data.DataProtos.ConditionProto;
import io.stele.wire.data.DataProtos.FilterProto;
import io.stele.wire.data.DataProtos.FiltersProto;
import io.stele.wire.data.DataProtos.ValueRangeProto;
import java.util.List;

/** Encodes filters as messages, and decodes them. */
public final class FilterCodec {
  private FilterCodec() {}

  /**
   * The message for {@code filter}.
   *
   * @throws SteleException REFUSED if it nests too deep
   */
  public static FilterProto encode(Filter filter) {
    return encode(filter, 1);
  }

  /**
   * The filter in {@code message}.
   *
   * @throws SteleException REFUSED if the message is not one of a filter
   */
  public static Filter decode(FilterProto message) {
    try {
      return decode(message, 1);
    } catch (IllegalArgumentException e) {
      throw new SteleException(
          SteleException.Code.REFUSED, "a filter cannot be decoded: " + e.getMessage(), e);
    }
  }

  private static FilterProto encode(Filter filter, int depth) {
    Limits.checkFilterDepth(depth);
    FilterProto.Builder to = FilterProto.newBuilder();
    switch (filter.kind()) {
      case PASS_ALL -> to.setPassAll(true);
      case BLOCK_ALL -> to.setBlockAll(true);
      case ROW_KEY_REGEX -> to.setRowKeyRegex(((Filter.RowKeyRegex) filter).pattern());
      case ROW_SAMPLE -> to.setRowSample(((Filter.RowSample) filter).probability());
      case FAMILY_REGEX -> to.setFamilyRegex(((Filter.FamilyRegex) filter).pattern());
      case QUALIFIER_REGEX -> to.setQualifierRegex(((Filter.QualifierRegex) filter).pattern());
      case COLUMN_RANGE -> {
        Filter.ColumnRange range = (Filter.ColumnRange) filter;
        to.setColumnRange(
            ColumnRangeProto.newBuilder()
                .setFamily(range.family())
                .setStart(of(range.start()))
                .setEnd(of(range.end())));
      }
      case COLUMN_IS -> to.setColumnIs(QueryCodec.encode(((Filter.ColumnIs) filter).column()));
      case VALUE_REGEX -> to.setValueRegex(((Filter.ValueRegex) filter).pattern());
      case VALUE_RANGE -> {
        Filter.ValueRange range = (Filter.ValueRange) filter;
        to.setValueRange(
            ValueRangeProto.newBuilder().setStart(of(range.start())).setEnd(of(range.end())));
      }
      case VALUE_IS -> to.setValueIs(of(((Filter.ValueIs) filter).value()));
      case TIMESTAMP_RANGE ->
          to.setTimestampRange(QueryCodec.encode(((Filter.TimestampRange) filter).range()));
      case CELLS_PER_ROW_LIMIT ->
          to.setCellsPerRowLimit(((Filter.CellsPerRowLimit) filter).count());
      case CELLS_PER_ROW_OFFSET ->
          to.setCellsPerRowOffset(((Filter.CellsPerRowOffset) filter).count());
      case CELLS_PER_COLUMN_LIMIT ->
          to.setCellsPerColumnLimit(((Filter.CellsPerColumnLimit) filter).count());
      case STRIP_VALUE -> to.setStripValue(true);
      case LABEL -> to.setLabel(((Filter.Label) filter).label());
      case CHAIN -> to.setChain(encode(((Filter.Chain) filter).filters(), depth));
      case INTERLEAVE -> to.setInterleave(encode(((Filter.Interleave) filter).filters(), depth));
      case CONDITION -> {
        Filter.Condition condition = (Filter.Condition) filter;
        to.setCondition(
            ConditionProto.newBuilder()
                .setPredicate(encode(condition.predicate(), depth + 1))
                .setIfTrue(encode(condition.ifTrue(), depth + 1))
                .setIfFalse(encode(condition.ifFalse(), depth + 1)));
      }
    }
    return to.build();
  }

  private static FiltersProto encode(List<Filter> filters, int depth) {
    FiltersProto.Builder to = FiltersProto.newBuilder();
    filters.forEach(filter -> to.addFilters(encode(filter, depth + 1)));
    return to.build();
  }

  private static Filter decode(FilterProto from, int depth) {
    Limits.checkFilterDepth(depth);
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
          throw SteleException.refused(
              "a filter is empty or of a kind that this server does not know: upgrade the server");
    };
  }

  private static List<Filter> decode(FiltersProto from, int depth) {
    return from.getFiltersList().stream().map(filter -> decode(filter, depth + 1)).toList();
  }
}
