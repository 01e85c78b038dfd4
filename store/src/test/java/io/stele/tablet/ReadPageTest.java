package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Durability;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.Outstanding;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.MemoryClaim;
import io.stele.sstable.NotInMemoryException;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Where a page ends. What it holds, {@link TabletModelTest} checks. */
class ReadPageTest {
  private static final String LARGE = "v".repeat(40_000); // Its memory is asked for at once.

  private final TabletFixture fixture;
  private int asked;

  ReadPageTest() throws IOException {
    fixture = new TabletFixture(TableSchema.of("t", "f"));
    for (String row : new String[] {"a", "b", "d", "e"}) {
      fixture.put(row, "f", "q", 1, LARGE);
    }
  }

  private ReadResult read(RowParts parts) throws IOException {
    MemoryClaim notTheSecondTime =
        bytes -> {
          if (++asked == 2) {
            throw SteleException.retryLater("no memory");
          }
        };
    RowQuery query = RowQuery.ALL.range(RowRange.of("a", "c")).range(RowRange.of("d", "f"));
    return fixture.tablet.read(
        new ReadRequest(
            query,
            OptionalLong.empty(),
            true,
            0,
            false,
            parts,
            notTheSecondTime,
            false,
            Optional.empty()));
  }

  @Test
  void aPageThatEndsForWantOfMemoryHasNoRowsOfLaterRanges() throws IOException {
    ReadResult page = read(RowParts.WHOLE);
    assertThat(page.rows()).extracting(Row::key).containsExactly(Bytes.of("a"));
    assertThat(page.rowCount()).isEqualTo(1);
    assertThat(page.nextRow()).contains(Bytes.of("b"));
    assertThat(page.position()).isEmpty();
  }

  /** One column is not cut into pages, however many cells it has that nobody sees. */
  @Test
  void aReadEndsWithinAColumnWhenNobodyWaitsForIt() throws Exception {
    Mutation versions = Mutation.of("long");
    for (int i = 1; i <= 10_000; i++) {
      versions = versions.put("f", Bytes.of("q"), i, Bytes.EMPTY);
    }
    fixture.apply(versions).join();
    fixture.apply(Mutation.of("long").deleteColumn("f", "q")).join();
    MemoryClaim givenUp = givenUp();
    assertThatThrownBy(
            () -> fixture.tablet.read(TabletFixture.claiming(RowQuery.row("long"), givenUp)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("nobody waits");
    assertThat(asked).isEqualTo(1);
    assertThat(
            fixture
                .tablet
                .read(TabletFixture.claiming(RowQuery.row("long"), MemoryClaim.NONE))
                .rows())
        .isEmpty();
  }

  /** A regular expression of many states takes microseconds for each byte of a value. */
  @Test
  void aReadEndsWithinAValueThatIsMatchedWhenNobodyWaitsForIt() {
    MemoryClaim givenUp = givenUp();
    RowQuery query =
        RowQuery.row("a").filter(new Filter.ValueRegex(".*v.{0,20}b.*")); // No value matches.
    assertThatThrownBy(() -> fixture.tablet.read(TabletFixture.claiming(query, givenUp)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("nobody waits");
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void aConditionEndsWithinAValueThatIsMatchedWhenNobodyWaitsForItAndNothingIsWritten()
      throws IOException {
    CheckAndMutate conditional =
        new CheckAndMutate(
            Bytes.of("a"),
            new Filter.ValueRegex(".*v.{0,20}b.*"),
            Mutation.of("a").put("f", "q", "matched"),
            Mutation.of("a").put("f", "q", "not matched"));
    OperationRequest request =
        new OperationRequest(
            conditional, Optional.empty(), Outstanding.from(0), Durability.HFLUSH, givenUp());
    assertThatThrownBy(() -> fixture.tablet.apply(request).join())
        .hasRootCauseInstanceOf(SteleException.class)
        .hasMessageContaining("nobody waits");
    assertThat(fixture.rows().get(0)).contains(LARGE);
  }

  private MemoryClaim givenUp() {
    return new MemoryClaim() {
      @Override
      public void take(long bytes) {}

      @Override
      public void requireWanted() {
        asked++;
        throw SteleException.retryLater("nobody waits");
      }
    };
  }

  @Test
  void theMemoryOfLabelsIsClaimed() throws Exception {
    for (int i = 0; i < 100; i++) {
      fixture.put("many", "f", "q" + i, 1, "");
    }
    Filter label = new Filter.Label("x".repeat(64));
    long labelled = claimed(new Filter.Chain(Collections.nCopies(16, label)));
    long plain = claimed(new Filter.PassAll());
    assertThat(labelled - plain).isGreaterThan(100 * 16 * 64);
  }

  private long claimed(Filter filter) throws IOException {
    AtomicLong claimed = new AtomicLong();
    fixture.tablet.read(
        TabletFixture.claiming(RowQuery.row("many").filter(filter), claimed::addAndGet));
    return claimed.get();
  }

  @Test
  void aPageThatIsFilteredEmptyAlsoEndsWhenMemoryRunsOutAndSaysWhereToContinue() throws Exception {
    MemoryClaim forOneRow =
        bytes -> {
          if (bytes > LARGE.length() && ++asked == 2) {
            throw SteleException.retryLater("no memory");
          }
        };
    ReadResult page =
        fixture.tablet.read(
            TabletFixture.claiming(RowQuery.ALL.filter(new Filter.BlockAll()), forOneRow));
    assertThat(page.rowCount()).isZero();
    assertThat(page.nextRow()).contains(Bytes.of("b"));
  }

  @Test
  void rangesWithoutRowsTakeTimeToo() throws Exception {
    fixture.tablet.minorCompact();
    fixture.options =
        fixture.options.withPage(new TabletOptions.Page(1 << 20, Duration.ofNanos(1)));
    fixture.reopen(List.of());
    RowQuery query = RowQuery.ALL;
    for (int i = 0; i < 100; i++) {
      query = query.range(RowRange.single(Bytes.of("c" + i)));
    }
    ReadResult page = fixture.tablet.read(TabletFixture.claiming(query, MemoryClaim.NONE));
    assertThat(page.rowCount()).isZero();
    assertThat(page.nextRow()).isPresent();
    assertThat(page.nextRow().orElseThrow()).isGreaterThan(Bytes.of("c0"));
  }

  /** A filter may make a thousand cells of one. */
  @Test
  void theMemoryOfWhatAFilterMakesOfARowIsClaimed() throws Exception {
    Filter ten = new Filter.Interleave(Collections.nCopies(10, new Filter.PassAll()));
    RowQuery query =
        RowQuery.ALL
            .range(RowRange.single(Bytes.of("a")))
            .filter(new Filter.Chain(List.of(ten, ten)));
    long most = 50L * LARGE.length();
    long[] taken = {0};
    MemoryClaim limited =
        bytes -> {
          if (taken[0] + bytes > most) {
            throw SteleException.refused("too much");
          }
          taken[0] += bytes;
        };
    for (RowParts parts : List.of(RowParts.WHOLE, new RowParts(1 << 20, Optional.empty()))) {
      taken[0] = 0;
      assertThatThrownBy(
              () -> fixture.tablet.read(TabletFixture.claiming(query, limited).in(parts)))
          .hasMessageContaining("too much");
      assertThat(taken[0]).as("what it is made of").isGreaterThan(LARGE.length());
    }
    ReadResult page = fixture.tablet.read(TabletFixture.claiming(query, MemoryClaim.NONE));
    assertThat(page.rows().get(0).cells()).hasSize(100);
  }

  @Test
  void aFilterThatPassesCellsTakesNoMoreMemoryThanNone() throws Exception {
    long[] taken = {0, 0};
    fixture.tablet.read(TabletFixture.claiming(RowQuery.ALL, bytes -> taken[0] += bytes));
    RowQuery passing = RowQuery.ALL.filter(new Filter.PassAll());
    fixture.tablet.read(TabletFixture.claiming(passing, bytes -> taken[1] += bytes));
    assertThat(taken[1]).isEqualTo(taken[0]);
  }

  @Test
  void theMemoryOfQualifiersIsClaimed() throws Exception {
    Bytes qualifier = Bytes.of("q".repeat(60_000));
    for (int i = 0; i < 10; i++) {
      fixture
          .apply(Mutation.of("wide").put("f", qualifier.concat(Bytes.of("" + i)), Bytes.EMPTY))
          .join();
    }
    long[] taken = {0};
    RowQuery query = RowQuery.ALL.range(RowRange.single(Bytes.of("wide")));
    fixture.tablet.read(TabletFixture.claiming(query, bytes -> taken[0] += bytes));
    assertThat(taken[0]).isGreaterThan(10L * qualifier.length());
  }

  @Test
  void aReadFromMemoryAloneEndsWithinAColumnOfManyDeadVersions() throws IOException {
    putVersions(1, 200_000);
    fixture.apply(Mutation.of("v").deleteColumn("f", "q")).join();
    RowQuery row = RowQuery.ALL.range(RowRange.single(Bytes.of("v")));
    assertThatThrownBy(() -> fixture.tablet.read(ReadRequest.of(row).inMemoryOnly()))
        .isInstanceOf(NotInMemoryException.class);
    assertThat(fixture.tablet.read(ReadRequest.of(row)).rows()).isEmpty();
  }

  @Test
  void aReadFromMemoryAloneHasAColumnOfFewDeadVersions() throws IOException {
    putVersions(1, 2_000);
    fixture.apply(Mutation.of("v").deleteColumn("f", "q")).join();
    RowQuery row = RowQuery.ALL.range(RowRange.single(Bytes.of("v")));
    assertThat(fixture.tablet.read(ReadRequest.of(row).inMemoryOnly()).rows()).isEmpty();
  }

  private void putVersions(long from, long to) {
    for (long first = from; first < to; first += 1000) {
      Mutation some = Mutation.of("v");
      for (long timestamp = first; timestamp < first + 1000; timestamp++) {
        some = some.put("f", Bytes.of("q"), timestamp, Bytes.EMPTY);
      }
      fixture.apply(some).join();
    }
  }

  @Test
  void neitherHasItAPartOfTheRowForWhichThereWasNone() throws IOException {
    fixture.put("b", "f", "a", 1, "small, and the first of the row");
    ReadResult page = read(RowParts.ofBytes(1 << 20));
    assertThat(page.rows()).extracting(Row::key).containsExactly(Bytes.of("a"));
    assertThat(page.nextRow()).contains(Bytes.of("b"));
    assertThat(page.position()).isEmpty();
  }

  @Test
  void withoutMemoryToReadAheadAPageIsReadNevertheless() throws IOException {
    fixture.tablet.minorCompact();
    MemoryClaim littleAtATime =
        bytes -> {
          if (bytes > 200_000) {
            throw SteleException.refused("too much");
          }
        };
    ReadRequest request =
        new ReadRequest(
                RowQuery.ALL,
                OptionalLong.of(fixture.tablet.readPoint()),
                true,
                1 << 20,
                false,
                RowParts.WHOLE,
                littleAtATime,
                false,
                Optional.empty())
            .withoutCaching();
    assertThat(fixture.tablet.read(request).rows()).hasSize(4);
  }
}
