package io.stele.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.examples.webtable.Webtable;
import io.stele.mapreduce.LocalCluster;
import io.stele.model.Mutation;
import org.junit.jupiter.api.Test;

class FewAnchorsTest {
  private static Mutation page(String row, int anchors) {
    Mutation.Builder page = Mutation.builder(row);
    for (int i = 0; i < anchors; i++) {
      page.put(Webtable.ANCHOR, "page" + i, "text");
    }
    return page.build();
  }

  @Test
  void aShortLoadedPageThatAFewLinkToIsSuggested() throws Exception {
    try (LocalCluster cluster = new LocalCluster(1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(Webtable.schema(Webtable.TABLE, 1 << 30));
      Table table = stele.table(Webtable.TABLE);
      table.mutate(page("com.example/x", 3));
      table.mutate(page("org.apache.hadoop/a", 3));
      assertThat(FewAnchors.row(stele)).as("no page that was loaded").isEmpty();
      for (String row : new String[] {"long/page", "page", "much-linked", "b"}) {
        String key = "org.apache.hadoop/" + row;
        table.mutate(page(key, row.equals("much-linked") ? 9 : row.equals("b") ? 1 : 3));
        table.mutate(Mutation.of(key).put(Webtable.LANGUAGE, "", "en"));
      }
      assertThat(FewAnchors.row(stele)).hasValue("org.apache.hadoop/page");
    }
  }
}
