package io.stele.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The checkers of what is in METADATA, on disk, and served. */
class StateCheckersTest {
  private static final TableId TABLE = new TableId("t1");

  private static TabletId id(int number) {
    return new TabletId(TABLE, String.format("%016x", number));
  }

  private static TabletRecordView tablet(int number, String start, String end) {
    return new TabletRecordView(id(number), RowRange.of(start, end), false, Set.of(), Set.of());
  }

  private static TabletRecordView tentative(int number, String start, String end) {
    return new TabletRecordView(id(number), RowRange.of(start, end), true, Set.of(), Set.of());
  }

  private static List<String> tiling(TabletRecordView... tablets) {
    return texts(TilingChecker.check(Set.of(TABLE), List.of(tablets)));
  }

  private static List<String> texts(List<Violation> violations) {
    return violations.stream().map(Violation::text).toList();
  }

  @Test
  void tabletsThatTileTheTablePass() {
    assertThat(tiling(tablet(1, "", ""))).isEmpty();
    assertThat(tiling(tablet(2, "m", ""), tablet(1, "", "c"), tablet(3, "c", "m"))).isEmpty();
  }

  @Test
  void aTentativeTabletCountsOnceTheUpperChildBeginsAtItsEnd() {
    assertThat(tiling(tentative(1, "", "c"), tablet(2, "", ""))).isEmpty();
    assertThat(tiling(tentative(1, "", "c"), tablet(2, "c", ""))).isEmpty();
    assertThat(tiling(tentative(1, "", "c"), tentative(2, "c", "m"), tablet(3, "m", ""))).isEmpty();
    assertThat(tiling(tentative(1, "", "b"), tablet(2, "c", ""))).hasSize(1);
    assertThat(tiling(tablet(1, "", "b"), tentative(2, "a", "c"), tablet(3, "c", ""))).hasSize(1);
  }

  @Test
  void gapsAreFound() {
    assertThat(tiling()).singleElement().asString().contains("has no tablet");
    assertThat(tiling(tablet(1, "", "c"), tablet(2, "d", "")))
        .singleElement()
        .asString()
        .contains("nothing holds the rows from c");
    assertThat(tiling(tablet(1, "a", ""))).hasSize(1);
    assertThat(tiling(tablet(1, "", "c"))).singleElement().asString().contains("from c on");
  }

  @Test
  void overlapsAreFound() {
    assertThat(tiling(tablet(1, "", "d"), tablet(2, "c", ""))).hasSize(1);
    assertThat(tiling(tablet(1, "", ""), tablet(2, "c", ""))).hasSize(1);
    assertThat(tiling(tablet(1, "", "m"), tablet(2, "c", "d"), tablet(3, "m", ""))).hasSize(1);
  }

  @Test
  void aTabletWithTwoRecordsOrOfNoTableIsFound() {
    assertThat(tiling(tablet(1, "", "c"), tablet(1, "c", ""))).hasSize(1);
    assertThat(texts(TilingChecker.check(Set.of(), List.of(tablet(1, "", ""))))).hasSize(1);
  }

  @Test
  void missingAndLeakedFilesAreFound() {
    TabletRecordView tablet =
        new TabletRecordView(
            id(1), RowRange.ALL, false, Set.of("a.sst", "b.sst"), Set.of("gone.sst"));
    TreeMap<String, Duration> ages = new TreeMap<>();
    ages.put("a.sst", Duration.ofHours(1));
    ages.put("b.sst", Duration.ofHours(1));
    ages.put("young.sst", Duration.ofSeconds(1));
    ages.put("written.sst", Duration.ofHours(1));
    Set<String> inProgress = Set.of("written.sst");
    Duration youngMax = Duration.ofMinutes(1);
    assertThat(FileChecker.check(List.of(tablet), ages, inProgress, youngMax)).isEmpty();
    ages.put("gone.sst", Duration.ofHours(1));
    assertThat(FileChecker.check(List.of(tablet), ages, inProgress, youngMax)).isEmpty();
    ages.put("leaked.sst", Duration.ofHours(1));
    ages.remove("b.sst");
    assertThat(texts(FileChecker.check(List.of(tablet), ages, inProgress, youngMax)))
        .hasSize(2)
        .anySatisfy(text -> assertThat(text).contains("b.sst of tablet").contains("missing"))
        .anySatisfy(text -> assertThat(text).contains("leaked.sst is leaked"));
  }

  private static OwnerChecker.Service service(
      int port, int tablet, long epoch, RowRange rows, long from, long to) {
    ServerId server = new ServerId("host", port, 1);
    return new OwnerChecker.Service(server, id(tablet), epoch, rows, from, to);
  }

  @Test
  void aTabletThatMovesAndSplitsPasses() {
    assertThat(
            OwnerChecker.check(
                List.of(
                    service(2, 1, 2, RowRange.ALL, 10, 20),
                    service(1, 1, 1, RowRange.ALL, 0, 10),
                    service(2, 2, 1, RowRange.of("", "m"), 20, Long.MAX_VALUE),
                    service(2, 3, 1, RowRange.of("m", ""), 20, Long.MAX_VALUE))))
        .isEmpty();
  }

  @Test
  void twoServersOfTheSameRowsAreFound() {
    assertThat(
            OwnerChecker.check(
                List.of(
                    service(1, 1, 1, RowRange.ALL, 0, 11), service(2, 1, 2, RowRange.ALL, 10, 20))))
        .singleElement()
        .satisfies(found -> assertThat(found.text()).contains("served at once"));
    assertThat(
            OwnerChecker.check(
                List.of(
                    service(1, 1, 1, RowRange.ALL, 0, Long.MAX_VALUE),
                    service(1, 2, 1, RowRange.of("", "m"), 10, 20))))
        .hasSize(1);
  }

  @Test
  void anEpochThatDoesNotGrowIsFound() {
    assertThat(
            OwnerChecker.check(
                List.of(
                    service(1, 1, 2, RowRange.ALL, 0, 10), service(2, 1, 2, RowRange.ALL, 10, 20))))
        .singleElement()
        .satisfies(found -> assertThat(found.text()).contains("epoch did not grow"));
  }
}
