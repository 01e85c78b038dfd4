package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs the programs in {@code docs/client.md}, which stand here as they stand there. */
@Timeout(120)
class ClientDocumentTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "client.md");
  private static final Path SELF =
      Path.of("src", "test", "java", "io", "stele", "client", "ClientDocumentTest.java");
  private static final Pattern JAVA_BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final int BLOCKS = 4;

  /** Lines may be broken elsewhere here. */
  private static String withoutSpace(String text) {
    return text.replaceAll("\\s+", "");
  }

  @Test
  void allProgramsOfTheDocumentStandHere() throws IOException {
    String here = withoutSpace(Files.readString(SELF));
    assertThat(
            JAVA_BLOCK
                .matcher(Files.readString(DOCUMENT))
                .results()
                .map(block -> withoutSpace(block.group(1))))
        .hasSize(BLOCKS)
        .allSatisfy(block -> assertThat(here).contains(block));
  }

  @Test
  void writingAndReading() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1)) {
      cluster.client().admin().createTable(TableSchema.of("pages", "contents", "stats"));
      Table pages = cluster.client().table("pages");
      assertThat(write(pages)).isEqualTo(1);
      assertThat(write(pages)).isEqualTo(2);
      writeMany(pages);
      read(pages);
      RowQuery all = RowQuery.prefix("com.example/").family("contents");
      try (Rows rows = pages.readRows(all)) {
        assertThat(rows.stream().map(Row::key)).hasSize(1001).contains(Bytes.of("com.example/999"));
      }
    }
  }

  private static long write(Table pages) throws IOException {
    pages.mutate(Mutation.of("com.example/a").put("contents", "", "<html>"));
    Row counted =
        pages.readModifyWrite(ReadModifyWrite.increment("com.example/a", "stats", "visits", 1));
    long visits = counted.value("stats", "visits").orElseThrow().toLong();
    return visits;
  }

  private static void writeMany(Table pages) throws IOException {
    try (BatchWriter writer = pages.batchWriter()) {
      for (int i = 0; i < 1000; i++) {
        Mutation page = Mutation.of("com.example/" + i).put("contents", "", "page " + i);
        try {
          writer.add(page);
        } catch (SteleException e) {
          System.err.println(page.row() + ": " + e.getMessage()); // Invalid: go on with the next.
        }
      }
    } catch (MutationsFailedException e) {
      System.err.println(e.count() + " mutations failed; the first ones:");
      for (Outcome outcome : e.failed()) {
        System.err.println(outcome);
      }
    }
  }

  private static void read(Table pages) throws IOException {
    RowQuery newest = RowQuery.prefix("com.example/").family("contents").versions(1);
    try (Rows rows = pages.readRows(newest)) {
      for (Row row : rows) {
        System.out.println(row.key() + " " + row.value("contents", "").orElseThrow().length());
      }
    }
  }

  @Test
  void aClusterInTheJvm() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration());
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 2, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("pages", "contents", "stats"));
      stele.table("pages").mutate(Mutation.of("com.example/a").put("contents", "", "<html>"));
      cluster.killServer(cluster.servers().get(0)); // The other takes its tablets.
      System.out.println(stele.table("pages").readRow("com.example/a").orElseThrow());
    }
  }
}
