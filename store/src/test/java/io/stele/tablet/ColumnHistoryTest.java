package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ColumnHistoryTest {
  private static final int VERSIONS = 1 << 21;

  /** A queue in one column: if each tombstone moved those before it, this would take an hour. */
  @Test
  @Timeout(120)
  void millionsOfVersionsThatWereDeletedOneByOneAreSoonJudged() {
    ColumnHistory history = new ColumnHistory(true);
    history.begin(2, List.of());
    int deleted = 0;
    for (int i = VERSIONS; i > 0; i--) {
      history.deleteVersion(i, 2L * i + 1);
      if (history.version(i, 2L * i, 0, false) == ColumnHistory.Fate.DELETED) {
        deleted++;
      }
    }
    assertThat(deleted).isEqualTo(VERSIONS);
  }
}
