package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.MemoryClaim;
import io.stele.sim.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Where the rows of a tablet are cut into pieces, and what it takes to find out. */
class SplitPointsTest {
  private static final int FILES = 20;
  private static final int ROWS = 10_000;

  private final TabletFixture fixture;

  SplitPointsTest() throws IOException {
    fixture = new TabletFixture(TableSchema.of("t", "f").withBlockBytes(1 << 10));
  }

  private static String row(int number) {
    return "r%05d".formatted(number);
  }

  /** Each file has rows from everywhere. */
  private void overlapping() throws IOException {
    Random random = new Random(1);
    for (int file = 0; file < FILES; file++) {
      for (int i = 0; i < 600; i++) {
        Mutation mutation = Mutation.of(row(random.nextInt(ROWS)));
        fixture.apply(mutation.put("f", "q" + file, "v".repeat(100))).join();
      }
      fixture.tablet.minorCompact();
    }
  }

  /** The rows of the samples as numbers, the end of the tablet as {@link #ROWS}. */
  private static List<Integer> numbers(List<RowSample> samples) {
    List<Integer> numbers = new ArrayList<>();
    for (RowSample sample : samples) {
      String row = sample.row() + "00000"; // It may be cut short.
      numbers.add(sample.row().isEmpty() ? ROWS : Integer.parseInt(row.substring(1, 6)));
    }
    return numbers;
  }

  @Test
  void samplesOfManyFilesReadNoDataAndCutThemEvenly() throws IOException {
    overlapping();
    AtomicLong reads = new AtomicLong();
    fixture
        .fs
        .disk()
        .inject(
            (operation, path) -> {
              reads.addAndGet(operation == Operation.READ ? 1 : 0);
              return Optional.empty();
            });
    List<RowSample> samples = fixture.tablet.sampleRows(20, MemoryClaim.NONE);
    assertThat(reads).hasValue(0);
    assertThat(samples).hasSizeBetween(19, 21);
    int last = 0;
    long lastOffset = 0;
    long all = samples.get(samples.size() - 1).offsetBytes();
    assertThat(all).isEqualTo(fixture.tablet.statistics().fileBytes());
    for (int i = 0; i < samples.size(); i++) {
      int number = numbers(samples).get(i);
      long offset = samples.get(i).offsetBytes();
      assertThat(number - last).as("rows of piece %d", i).isBetween(ROWS / 60, ROWS / 7);
      assertThat(offset - lastOffset).as("bytes of piece %d", i).isBetween(all / 60, all / 7);
      last = number;
      lastOffset = offset;
    }
  }

  @Test
  void aRowLargerThanAPieceIsNotCut() throws IOException {
    for (int i = 0; i < 100; i++) {
      fixture.put(row(i), "f", "q", 1, "v".repeat(100));
    }
    for (int i = 0; i < 1_000; i++) {
      fixture.put(row(50), "f", "large" + i, 1, "v".repeat(100));
    }
    fixture.tablet.minorCompact();
    List<RowSample> samples = fixture.tablet.sampleRows(10, MemoryClaim.NONE);
    assertThat(samples).extracting(RowSample::row).doesNotHaveDuplicates();
    assertThat(samples).hasSizeBetween(2, 4);
    assertThat(samples.get(samples.size() - 1).row()).isEqualTo(Bytes.EMPTY);
  }

  @Test
  void samplingEndsWhenNobodyWaitsForIt() throws IOException {
    fixture.put("a", "f", "q", 1, "v");
    fixture.tablet.minorCompact();
    MemoryClaim givenUp =
        new MemoryClaim() {
          @Override
          public void take(long bytes) {}

          @Override
          public void requireWanted() {
            throw SteleException.retryLater("nobody waits");
          }
        };
    assertThatThrownBy(() -> fixture.tablet.sampleRows(10, givenUp))
        .hasMessageContaining("nobody waits");
  }

  @Test
  void theMemoryOfLongRowsIsClaimed() throws IOException {
    for (int i = 0; i < 100; i++) {
      fixture.put("r".repeat(10_000) + row(i), "f", "q", 1, "v".repeat(1_000));
    }
    fixture.tablet.minorCompact();
    AtomicLong claimed = new AtomicLong();
    assertThat(fixture.tablet.sampleRows(50, claimed::addAndGet)).hasSizeGreaterThan(20);
    assertThat(claimed.get()).isGreaterThan(50 * 10_000);
  }

  /** As the splitter asks, for a row with cells on both sides. */
  @Test
  void theMiddleOfManyFilesIsFoundByTheirIndexes() throws IOException {
    overlapping();
    Bytes middle = fixture.tablet.splitRow().orElseThrow();
    assertThat(middle).isBetween(Bytes.of(row(ROWS * 4 / 10)), Bytes.of(row(ROWS * 6 / 10)));
  }

  @Test
  void aTabletWithoutFilesHasNoSamplesButItsEnd() throws IOException {
    fixture.put("a", "f", "q", 1, "v");
    assertThat(fixture.tablet.sampleRows(10, MemoryClaim.NONE))
        .containsExactly(new RowSample(Bytes.EMPTY, 0));
  }
}
