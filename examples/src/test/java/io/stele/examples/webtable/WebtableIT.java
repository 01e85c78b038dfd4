package io.stele.examples.webtable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.mapreduce.LocalCluster;
import io.stele.model.Row;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The three jobs, one after the other, over a small jar. */
class WebtableIT {
  private static final String DOCS = "org.apache.hadoop/docs/hadoop-common/";

  @TempDir Path directory;

  private Path jar() throws IOException {
    Path jar = directory.resolve("hadoop-common-3.5.0-javadoc.jar");
    try (OutputStream out = Files.newOutputStream(jar);
        ZipOutputStream zip = new ZipOutputStream(out);
        InputStream page = WebtableIT.class.getResourceAsStream("/pages/PathFilter.html")) {
      put(zip, "org/fs/PathFilter.html", page.readAllBytes());
      put(
          zip,
          "org/fs/Path.html",
          "<html lang=en><a href=PathFilter.html>filters</a> and"
              + " <a href=https://docs.oracle.com/String.html>String</a>");
      put(zip, "org/fs/GlobFilter.html", "<a href=PathFilter.html#x>filters</a><a href=#y>y</a>");
      put(zip, "script.js", "no page");
      for (int i = 0; i < 200; i++) {
        put(zip, "filler/page" + i + ".html", "<a href=../org/fs/Path.html>to <b>Path</b></a>");
      }
    }
    return jar;
  }

  private static void put(ZipOutputStream zip, String name, String text) throws IOException {
    put(zip, name, text.getBytes(StandardCharsets.UTF_8));
  }

  private static void put(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    zip.putNextEntry(new ZipEntry(name));
    zip.write(bytes);
    zip.closeEntry();
  }

  @Test
  void pagesAreLoadedLinkedAndReported() throws Exception {
    try (LocalCluster cluster = new LocalCluster(2)) {
      Stele stele = cluster.client();
      Configuration conf = cluster.conf();
      stele.admin().createTable(Webtable.schema(Webtable.TABLE, 64 << 10));
      var jars = List.of(new org.apache.hadoop.fs.Path(jar().toUri()));

      Job load = WebtableLoad.job(conf, Webtable.TABLE, jars);
      assertThat(load.waitForCompletion(true)).isTrue();
      assertThat(WebtableLoad.result(load))
          .extracting("pages", "otherFiles")
          .containsExactly(203L, 1L);

      Job link = WebtableLink.job(conf, Webtable.TABLE);
      assertThat(link.waitForCompletion(true)).isTrue();
      // 200 to Path, 2 from it, 3 from PathFilter, 1 from GlobFilter.
      assertThat(WebtableLink.result(link)).isEqualTo(new WebtableLink.Result(203, 206, 206, 5));

      Table table = stele.table(Webtable.TABLE);
      Row filter = table.readRow(DOCS + "org/fs/PathFilter.html").orElseThrow();
      assertThat(filter.value(Webtable.LANGUAGE, "").orElseThrow().toUtf8()).isEqualTo("en");
      assertThat(filter.family(Webtable.ANCHOR))
          .extracting(cell -> cell.qualifier().toUtf8(), cell -> cell.value().toUtf8())
          .containsExactly(
              org.assertj.core.api.Assertions.tuple(DOCS + "org/fs/GlobFilter.html", "filters"),
              org.assertj.core.api.Assertions.tuple(DOCS + "org/fs/Path.html", "filters"));

      var output = new org.apache.hadoop.fs.Path(directory.resolve("report").toUri());
      Job report = WebtableReport.job(conf, Webtable.TABLE, output);
      assertThat(report.waitForCompletion(true)).isTrue();
      WebtableReport.Result result = WebtableReport.result(report);
      assertThat(result.pages()).isEqualTo(203);
      assertThat(result.links()).isEqualTo(206);
      assertThat(result.cells()).isEqualTo(203 * 2 + 206);
      assertThat(result.topPages().get(0))
          .isEqualTo(new TopPage(DOCS + "org/fs/Path.html", true, 201, List.of("to Path", "Path")));
      assertThat(result.topElsewhere())
          .contains(new TopPage("com.oracle.docs/String.html", false, 1, List.of("String")));
      assertThat(result.tablets()).isNotEmpty().allMatch(tablet -> tablet.server().isPresent());
      assertThat(directory.resolve("report").resolve(WebtableReport.FILE))
          .content()
          .contains("203 pages", "206 links", "Path.html");
    }
  }
}
