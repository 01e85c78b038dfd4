package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;

class OperationRulesTest {
  private static final Bytes ROW = Bytes.of("r");
  private static final Bytes Q = Bytes.of("q");
  private static final Filter ALL = new Filter.PassAll();
  private static final String NO_FAMILY = "table t has no family \"nope\": it has f, g";
  private static final String ADD_IT = NO_FAMILY + ". Add the family to the table first";

  private final OperationRules rules = new OperationRules(TableSchema.of("t", "f", "g"));

  private void allowed(RowOperation operation) {
    assertThatCode(() -> rules.check(operation, 10)).doesNotThrowAnyException();
  }

  private void refused(SteleException.Code code, RowOperation operation, String message) {
    SteleException refusal =
        catchThrowableOfType(SteleException.class, () -> rules.check(operation, 10));
    assertThat(refusal).as("%s", operation).isNotNull().hasMessage(message);
    assertThat(refusal.code()).isEqualTo(code);
  }

  private void refused(RowOperation operation, String message) {
    refused(SteleException.Code.REFUSED, operation, message);
  }

  private void notFound(RowOperation operation, String message) {
    refused(SteleException.Code.NOT_FOUND, operation, message);
  }

  @Test
  void operationsThatTheSchemaAllowsPass() {
    allowed(
        Mutation.of("r")
            .put("f", "q", "1234567890")
            .deleteCell("g", Q, 1)
            .deleteColumn("g", "q")
            .deleteFamily("f")
            .deleteRow());
    allowed(CheckAndMutate.ifAny(ALL, Mutation.of("r"))); // May do nothing.
    allowed(ReadModifyWrite.append(ROW, "f", Q, Bytes.of("1234567890")));
    allowed(ReadModifyWrite.increment(ROW, "g", Q, 1));
  }

  @Test
  void everyEditAndRuleNamesAFamilyOfTheTable() {
    everyEditNamesAFamily(ADD_IT, Stream.of(Mutation.of("r").put("nope", "q", "v")));
    everyEditNamesAFamily(
        NO_FAMILY,
        Stream.of(
            Mutation.of("r").deleteCell("nope", Q, 1),
            Mutation.of("r").deleteColumn("nope", "q"),
            Mutation.of("r").put("f", "q", "fine").deleteFamily("nope")));
    notFound(ReadModifyWrite.increment(ROW, "nope", Q, 1), ADD_IT);
    notFound(
        ReadModifyWrite.append(ROW, "f", Q, Q).with(new ReadModifyWrite.Append("nope", Q, Q)),
        ADD_IT);
  }

  private void everyEditNamesAFamily(String message, Stream<Mutation> mutations) {
    mutations.forEach(
        mutation -> {
          notFound(mutation, message);
          notFound(CheckAndMutate.ifAny(ALL, mutation), message);
          notFound(CheckAndMutate.ifNone(ALL, mutation), message);
        });
  }

  @Test
  void everyFilterNamesAFamilyOfTheTable() {
    Filter is = new Filter.ColumnIs(new Column("nope", Q));
    for (Filter filter :
        List.of(
            is,
            new Filter.ColumnRange("nope", Bytes.EMPTY, Bytes.EMPTY),
            Filter.chain(ALL, is),
            new Filter.Interleave(List.of(ALL, is)),
            new Filter.Condition(is, ALL, ALL),
            new Filter.Condition(ALL, is, ALL),
            new Filter.Condition(ALL, ALL, is))) {
      notFound(CheckAndMutate.ifAny(filter, Mutation.of("r").deleteRow()), NO_FAMILY);
      SteleException refusal =
          catchThrowableOfType(
              SteleException.class, () -> rules.check(RowQuery.ALL.filter(filter)));
      assertThat(refusal).as("%s", filter).isNotNull().hasMessage(NO_FAMILY);
    }
  }

  @Test
  void queriesNameFamiliesOfTheTable() {
    assertThatCode(() -> rules.check(RowQuery.ALL.family("f").column("g", "q")))
        .doesNotThrowAnyException();
    for (RowQuery query :
        List.of(RowQuery.ALL.family("f").family("nope"), RowQuery.ALL.column("nope", "q"))) {
      SteleException refusal = catchThrowableOfType(SteleException.class, () -> rules.check(query));
      assertThat(refusal).isNotNull().hasMessage(NO_FAMILY);
      assertThat(refusal.code()).isEqualTo(SteleException.Code.NOT_FOUND);
    }
  }

  @Test
  void aMutationHasEdits() {
    refused(Mutation.of("r"), "a mutation of row \"r\" has no edits: add a put or a delete");
  }

  @Test
  void valuesAboveTheLimitAreRefused() {
    String message =
        "the value of f:q in row \"r\" of table t has 11 bytes: the limit is 10 (stele.value.bytes.max); raise it, or write the value in several cells";
    Mutation mutation = Mutation.of("r").put("f", "q", "12345678901");
    refused(mutation, message);
    refused(CheckAndMutate.ifAny(ALL, mutation), message);
    refused(CheckAndMutate.ifNone(ALL, mutation), message);
    refused(ReadModifyWrite.append(ROW, "f", Q, Bytes.of("12345678901")), message);
  }

  @Test
  void mutationsTooLargeAsAWholeAreRefused() {
    Bytes value = Bytes.wrap(new byte[(1 << 20) - 66]); // The same for all: it is only counted.
    Mutation mutation =
        new Mutation(
            ROW,
            IntStream.range(0, 256)
                .mapToObj(i -> (Edit) new Edit.Put("f", Bytes.EMPTY, i, value))
                .toList());
    assertThatCode(() -> rules.check(mutation, 1 << 20)).doesNotThrowAnyException();
    String message =
        "a mutation of row \"r\" makes cells of 268435523 bytes, each with its row key: the limit is"
            + " 268435456; split it into several mutations";
    SteleException refusal =
        catchThrowableOfType(
            SteleException.class, () -> rules.check(mutation.put("f", "q", ""), 1 << 20));
    assertThat(refusal).isNotNull().hasMessage(message);

    ReadModifyWrite appends =
        new ReadModifyWrite(
            ROW,
            IntStream.range(0, 257)
                .mapToObj(
                    i ->
                        (ReadModifyWrite.Rule)
                            new ReadModifyWrite.Append(
                                "f", i == 0 ? Q : Bytes.EMPTY, i == 0 ? Bytes.EMPTY : value))
                .toList());
    refusal = catchThrowableOfType(SteleException.class, () -> rules.check(appends, 1 << 20));
    assertThat(refusal).isNotNull().hasMessage(message);
  }

  @Test
  void theRowKeyOfEachEditCounts() {
    Bytes row = Bytes.wrap(new byte[Limits.ROW_BYTES_MAX]); // Zero bytes take two in a key.
    Mutation mutation =
        new Mutation(
            row,
            IntStream.range(0, 8000)
                .mapToObj(i -> (Edit) new Edit.Put("f", Bytes.of("q" + i), 1, Bytes.EMPTY))
                .toList());
    for (RowOperation operation : List.of(mutation, CheckAndMutate.ifNone(ALL, mutation))) {
      assertThat(catchThrowableOfType(SteleException.class, () -> rules.check(operation, 10)))
          .isNotNull()
          .hasMessageContaining("makes cells of 1049134890 bytes, each with its row key");
    }
  }

  @Test
  void whatIsNoRegularExpressionIsRefused() {
    for (Filter filter :
        List.of(
            new Filter.RowKeyRegex("a("),
            new Filter.FamilyRegex("a("),
            new Filter.QualifierRegex("a("),
            Filter.chain(ALL, new Filter.ValueRegex("a(")))) {
      assertThat(
              catchThrowableOfType(
                  SteleException.class, () -> rules.check(RowQuery.ALL.filter(filter))))
          .as("%s", filter)
          .isNotNull()
          .hasMessageContaining("\"a(\" is not a regular expression of RE2");
    }
  }

  @Test
  void regularExpressionsThatNeedMuchMemoryAreRefused() {
    for (String small :
        List.of(
            "(abc|def)*",
            "(?:x{100}){90}",
            "[^\\]a]{1000}",
            "\\Q((((\\E",
            "(".repeat(100) + ")".repeat(100),
            "a".repeat(4096))) {
      regex(small).isNull();
    }
    regex("a".repeat(4097)).isNotNull().hasMessageContaining("the limit is 4096");
    regex("(".repeat(101) + ")".repeat(101)).isNotNull().hasMessageContaining("100 groups");
    for (String large :
        List.of(
            "((x{1000}){1000}){1000}",
            "(?:(?:x{1000}){10}y{500}){2,}",
            "((((a{30}){30}){30}){30})",
            "[a-z]{1000}[a-z]{1000}[a-z]{1000}",
            "(\\pL{1000}){900}")) {
      regex(large).isNotNull().hasMessageContaining("the limit is 20000 steps");
    }
  }

  private AbstractThrowableAssert<?, SteleException> regex(String pattern) {
    return filter(new Filter.ValueRegex(pattern)).as(pattern);
  }

  private AbstractThrowableAssert<?, SteleException> filter(Filter filter) {
    return assertThat(
        catchThrowableOfType(SteleException.class, () -> rules.check(RowQuery.ALL.filter(filter))));
  }

  @Test
  void regularExpressionsThatNeedMuchMemoryTogetherAreRefused() {
    Filter large = new Filter.QualifierRegex("a{1000}".repeat(9));
    filter(Filter.chain(large, large)).isNull();
    filter(new Filter.Chain(Collections.nCopies(999, large)))
        .isNotNull()
        .hasMessageContaining("more than 40000 steps together");
    filter(new Filter.Interleave(Collections.nCopies(50, new Filter.ValueRegex("\\pL[\\pN]{3}"))))
        .isNotNull()
        .hasMessageContaining("more than 40000 steps together");
    filter(new Filter.Chain(Collections.nCopies(900, new Filter.ValueRegex("com\\..*")))).isNull();
  }

  @Test
  void labelsThatMakeCellsMuchLargerAreRefused() {
    filter(new Filter.Label("x".repeat(64))).isNull();
    filter(new Filter.Label("x".repeat(65))).isNotNull().hasMessageContaining("the limit is 64");
    Filter one = new Filter.Label("one");
    filter(new Filter.Chain(Collections.nCopies(16, one))).isNull();
    filter(new Filter.Interleave(Collections.nCopies(17, one))).isNull();
    filter(new Filter.Chain(Collections.nCopies(17, one)))
        .isNotNull()
        .hasMessageContaining("more than 16 labels");
    Filter either = new Filter.Condition(ALL, Filter.chain(one, one), one);
    filter(new Filter.Chain(Collections.nCopies(9, either)))
        .isNotNull()
        .hasMessageContaining("more than 16 labels");
  }

  @Test
  void filtersThatMakeManyCellsOfOneAreRefused() {
    Filter twice = new Filter.Interleave(List.of(ALL, ALL));
    allowed(CheckAndMutate.ifAny(Filter.chain(twice, twice, twice), Mutation.of("r").deleteRow()));
    Filter chain = new Filter.Chain(Collections.nCopies(22, twice));
    Filter nested = ALL;
    for (int i = 0; i < 11; i++) {
      nested = Filter.chain(twice, new Filter.Interleave(List.of(nested, nested)));
    }
    for (Filter filter :
        List.of(
            chain,
            nested,
            new Filter.Condition(chain, ALL, ALL),
            new Filter.Condition(ALL, ALL, chain),
            new Filter.Interleave(Collections.nCopies(1001, ALL)))) {
      assertThat(
              catchThrowableOfType(
                  SteleException.class, () -> rules.check(RowQuery.ALL.filter(filter))))
          .as("%s", filter)
          .isNotNull()
          .hasMessageContaining("more than 1000");
    }
  }

  @Test
  void filtersThatNestTooDeepAreRefused() {
    Filter deep = ALL;
    for (int i = 1; i < Limits.FILTER_DEPTH_MAX; i++) {
      deep = Filter.chain(deep);
    }
    allowed(CheckAndMutate.ifAny(deep, Mutation.of("r").deleteRow()));
    for (Filter tooDeep :
        List.of(
            Filter.chain(deep),
            new Filter.Interleave(List.of(ALL, deep)),
            new Filter.Condition(deep, ALL, ALL),
            new Filter.Condition(ALL, ALL, deep))) {
      refused(
          CheckAndMutate.ifAny(tooDeep, Mutation.of("r").deleteRow()),
          "a filter nests deeper than 32 levels: nest it less");
    }
  }
}
