package io.stele.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MissingFilesTest {
  private static final TabletId TABLET = new TabletId(new TableId("t1"), "00000000000000a1");

  private final MissingFiles missing = new MissingFiles();

  @Test
  void aFileThatIsGoneAndStillNamedWasDeletedTooEarly() {
    assertThat(missing.look(naming("a", "b"), Set.of("a"))).isEmpty();
    assertThat(missing.look(naming("a", "b"), Set.of("a")))
        .singleElement()
        .satisfies(found -> assertThat(found.toString()).contains("file b", TABLET.toString()));
    assertThat(missing.look(naming("a", "b"), Set.of("a"))).as("told once").isEmpty();
  }

  @Test
  void aFileMayBeDroppedAndDeletedBetweenReadingItsRecordAndLookingForIt() {
    assertThat(missing.look(naming("a", "b"), Set.of("a"))).isEmpty();
    assertThat(missing.look(naming("a"), Set.of("a"))).isEmpty();
  }

  @Test
  void recordsThatWereNotReadMayBeReadLater() {
    assertThat(missing.look(naming("a"), Set.of())).isEmpty();
    assertThat(missing.look(List.of(), Set.of())).isEmpty();
    assertThat(missing.look(naming("a"), Set.of())).hasSize(1);
  }

  private static List<TabletRecordView> naming(String... files) {
    return List.of(new TabletRecordView(TABLET, RowRange.ALL, false, Set.of(files), Set.of()));
  }
}
