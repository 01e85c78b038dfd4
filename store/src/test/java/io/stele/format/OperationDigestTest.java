package io.stele.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import io.stele.model.TimeRange;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Digests are kept on disk: those here must never change but with the version in them. */
class OperationDigestTest {
  private static final Bytes ROW = Bytes.of("row");
  private static final Bytes Q = Bytes.of("q");

  private static final List<Edit> EDITS =
      List.of(
          new Edit.Put("f", Q, 7, Bytes.of("value")),
          new Edit.DeleteCell("f", Q, 7),
          new Edit.DeleteColumn("f", Q, new TimeRange(7, 8)),
          new Edit.DeleteFamily("f"),
          new Edit.DeleteRow());

  private static final List<Filter> FILTERS =
      List.of(
          new Filter.PassAll(),
          new Filter.BlockAll(),
          new Filter.RowKeyRegex("x"),
          new Filter.RowSample(0.5),
          new Filter.FamilyRegex("x"),
          new Filter.QualifierRegex("x"),
          new Filter.ColumnRange("f", Q, Bytes.of("r")),
          new Filter.ColumnIs(new Column("f", Q)),
          new Filter.ValueRegex("x"),
          new Filter.ValueRange(Q, Bytes.of("r")),
          new Filter.ValueIs(Q),
          new Filter.TimestampRange(new TimeRange(7, 8)),
          new Filter.CellsPerRowLimit(1),
          new Filter.CellsPerRowOffset(1),
          new Filter.CellsPerColumnLimit(1),
          new Filter.StripValue(),
          new Filter.Label("x"),
          new Filter.Chain(List.of(new Filter.PassAll())),
          new Filter.Interleave(List.of(new Filter.PassAll())),
          new Filter.Condition(
              new Filter.PassAll(), new Filter.BlockAll(), new Filter.StripValue()));

  private static final List<ReadModifyWrite.Rule> RULES =
      List.of(
          new ReadModifyWrite.Append("f", Q, Bytes.of("value")),
          new ReadModifyWrite.Increment("f", Q, -3));

  private static List<RowOperation> oneOfEachKind() {
    List<RowOperation> all = new ArrayList<>();
    EDITS.forEach(edit -> all.add(Mutation.of(ROW).with(edit)));
    FILTERS.forEach(filter -> all.add(CheckAndMutate.ifAny(filter, Mutation.of(ROW))));
    RULES.forEach(rule -> all.add(new ReadModifyWrite(ROW, List.of(rule))));
    return all;
  }

  @Test
  void noKindIsLeftOut() {
    assertThat(EDITS).extracting(Edit::kind).containsExactly(Edit.Kind.values());
    assertThat(FILTERS).extracting(Filter::kind).containsExactly(Filter.Kind.values());
    assertThat(RULES)
        .extracting(ReadModifyWrite.Rule::kind)
        .containsExactly(ReadModifyWrite.Rule.Kind.values());
    assertThat(oneOfEachKind()).extracting(RowOperation::kind).contains(RowOperation.Kind.values());
  }

  @Test
  void digestsAreThoseOnDisk() {
    assertThat(oneOfEachKind())
        .extracting(
            operation -> HexFormat.of().formatHex(OperationDigest.of(operation).toByteArray()))
        .containsExactly(
            "021295bd521200000000000000",
            "02512161f60c00000000000000",
            "02a71f1f130d00000000000000",
            "02c0fc9a550900000000000000",
            "020c4456dd0700000000000000",
            "0257bae9200800000000000000",
            "02247ac7ca0800000000000000",
            "0268be9c510a00000000000000",
            "02c0bc79c21100000000000000",
            "0280dffbc10a00000000000000",
            "02746fc8890a00000000000000",
            "0264b75b4c0e00000000000000",
            "023eb009f00c00000000000000",
            "02a16ad9e40a00000000000000",
            "024a4675ed0c00000000000000",
            "024219eb090a00000000000000",
            "0288af4bae0a00000000000000",
            "02b8c495ff0900000000000000",
            "02814db79d0900000000000000",
            "0239e7f2400900000000000000",
            "02a3550af50800000000000000",
            "02e3009cae0a00000000000000",
            "02eb1a3c2d0a00000000000000",
            "0247752d150a00000000000000",
            "026d0f10530b00000000000000",
            "025018062f1100000000000000",
            "02741a441a1500000000000000");
  }

  @Test
  void digestsOfLongerValuesAreThoseOnDisk() {
    assertThat(List.of(64, 65, 1000))
        .extracting(length -> HexFormat.of().formatHex(digestOfTwoValues(length).toByteArray()))
        .containsExactly(
            "027a4ee49ea600000000000000",
            "026b66e9d1a800000000000000",
            "02d3017b8bf807000000000000");
  }

  private static Bytes digestOfTwoValues(int length) {
    byte[] value = new byte[length];
    for (int i = 0; i < length; i++) {
      value[i] = (byte) (i * 7);
    }
    return OperationDigest.of(Mutation.of(ROW).put("f", "q", value).put("f", "r", value));
  }

  @Test
  void operationsThatDifferHaveOtherDigests() {
    List<RowOperation> all = new ArrayList<>(oneOfEachKind());
    all.add(Mutation.of("row"));
    all.add(Mutation.of("other").deleteRow());
    all.add(Mutation.of(ROW).put("f", Q, 8, Bytes.of("value")));
    all.add(Mutation.of(ROW).put("f", Bytes.of("qv"), 7, Bytes.of("alue")));
    all.add(Mutation.of(ROW).put("f", Q, Bytes.of("value")));
    all.add(Mutation.of(ROW).deleteFamily("g"));
    all.add(Mutation.of(ROW).deleteRow().deleteRow());
    all.add(CheckAndMutate.ifNone(new Filter.PassAll(), Mutation.of(ROW).deleteRow()));
    all.add(CheckAndMutate.ifAny(new Filter.PassAll(), Mutation.of(ROW).deleteRow()));
    Filter pass = new Filter.PassAll();
    all.add(filtered(new Filter.Chain(List.of())));
    all.add(filtered(Filter.chain(pass, Filter.chain(pass))));
    all.add(filtered(Filter.chain(Filter.chain(pass), pass)));
    all.add(filtered(Filter.chain(Filter.chain(pass, pass))));
    all.add(filtered(new Filter.RowSample(0.25)));
    assertThat(all).extracting(OperationDigest::of).doesNotHaveDuplicates();
    assertThat(all)
        .extracting(operation -> OperationDigest.folded(OperationDigest.of(operation)))
        .doesNotHaveDuplicates();
  }

  private static RowOperation filtered(Filter filter) {
    return CheckAndMutate.ifAny(filter, Mutation.of(ROW));
  }
}
