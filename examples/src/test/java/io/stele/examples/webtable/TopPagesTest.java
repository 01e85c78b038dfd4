package io.stele.examples.webtable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.junit.jupiter.api.Test;

class TopPagesTest {
  private static TopPage page(String row, boolean inTable, int referrers) {
    return new TopPage(row, inTable, referrers, List.of("text"));
  }

  @Test
  void thePagesWithMostReferrersAreKeptApartByKind() {
    TopPages top = new TopPages();
    for (int i = 0; i < 100; i++) {
      top.add(page("here" + i, true, i));
      top.add(page("there" + i, false, i));
    }
    List<TopPage> kept = top.inOrder();
    assertThat(kept).hasSize(40);
    assertThat(kept.get(0)).isEqualTo(page("here99", true, 99));
    assertThat(kept.get(20)).isEqualTo(page("there99", false, 99));
  }

  @Test
  void aPageShowsTheCommonestTextsOfItsLinks() {
    List<Cell> cells = new ArrayList<>();
    for (String text : List.of("Path", "a path", "Path", "", "a\tb", "Path", "a path", "z")) {
      cells.add(new Cell("anchor", Bytes.of("r" + cells.size()), 1, Bytes.of(text)));
    }
    TopPage page = TopPage.of("row", true, cells);
    assertThat(page).isEqualTo(new TopPage("row", true, 8, List.of("Path", "a path", "a b")));
    assertThat(TopPage.parse(page.format())).isEqualTo(page);
    TopPage bare = TopPage.of("row", false, cells.subList(3, 4));
    assertThat(TopPage.parse(bare.format())).isEqualTo(bare);
  }

  @Test
  void anchorsComeThroughAStreamInOrder() throws IOException {
    Anchors anchors =
        new Anchors().addAll(List.of(Anchors.of("z", "last"), Anchors.of("a", "\u00e4\u00f6")));
    DataOutputBuffer out = new DataOutputBuffer();
    anchors.write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    Anchors read = Anchors.of("gone", "gone");
    read.readFields(in);
    assertThat(read.textByReferrer()).isEqualTo(anchors.textByReferrer());
    assertThat(read.textByReferrer().firstKey()).isEqualTo("a");
  }
}
