package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CompactionPickerTest {
  private static final TabletOptions OPTIONS =
      UntimedPages.options(
          1 << 20,
          TabletOptions.DEFAULT.operationsWindow(),
          new TabletOptions.Merging(3, 5, 8),
          1 << 20);

  private static Optional<CompactionPicker.Pick> pick(long... bytes) {
    return CompactionPicker.pick(bytes, OPTIONS);
  }

  @Test
  void fewFilesAreLeftAlone() {
    assertThat(pick()).isEmpty();
    assertThat(pick(10, 10)).isEmpty();
    assertThat(pick(10, 1000, 100_000)).isEmpty();
  }

  @Test
  void neighboursOfSimilarSizeAreMergedAndTheLargeOneIsNotWrittenAgain() {
    assertThat(pick(10, 12, 9, 1000)).contains(new CompactionPicker.Pick(0, 3));
    assertThat(pick(1000, 10, 12, 9)).contains(new CompactionPicker.Pick(1, 4));
  }

  @Test
  void noMoreThanTheLimitAtOnce() {
    assertThat(pick(9, 9, 9, 9, 9, 9, 9).orElseThrow().count()).isEqualTo(5);
  }

  @Test
  void tooManyUnlikeFilesAreMergedAllTheSame() {
    assertThat(pick(1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000)).isEmpty();
    assertThat(pick(1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000))
        .contains(new CompactionPicker.Pick(0, 3));
  }

  @Test
  void filesStayFewAndEachByteIsWrittenFewTimes() {
    Random random = new Random(7);
    long[] files = {};
    long written = 0;
    long loaded = 0;
    for (int i = 0; i < 2000; i++) {
      long size = 50 + random.nextInt(100);
      loaded += size;
      long[] more = new long[files.length + 1];
      System.arraycopy(files, 0, more, 1, files.length);
      more[0] = size;
      files = more;
      Optional<CompactionPicker.Pick> pick = pick(files);
      while (pick.isPresent()) {
        long total = Arrays.stream(files, pick.get().from(), pick.get().to()).sum();
        written += total;
        long[] fewer = new long[files.length - pick.get().count() + 1];
        System.arraycopy(files, 0, fewer, 0, pick.get().from());
        fewer[pick.get().from()] = total;
        System.arraycopy(
            files, pick.get().to(), fewer, pick.get().from() + 1, files.length - pick.get().to());
        files = fewer;
        pick = pick(files);
      }
      assertThat(files.length).isLessThanOrEqualTo(8);
    }
    assertThat((double) written / loaded).isLessThan(9);
  }
}
