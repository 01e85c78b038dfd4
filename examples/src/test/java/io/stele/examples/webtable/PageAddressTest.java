package io.stele.examples.webtable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import org.junit.jupiter.api.Test;

class PageAddressTest {
  private static final PageAddress PAGE =
      new PageAddress("hadoop.apache.org", "/docs/hadoop-common/org/apache/Path.html");

  private static String row(String href) {
    return PAGE.resolve(href).map(address -> address.row().toUtf8()).orElse("none");
  }

  @Test
  void theRowIsTheReversedHostAndThePath() {
    assertThat(PAGE.row())
        .isEqualTo(Bytes.of("org.apache.hadoop/docs/hadoop-common/org/apache/Path.html"));
    assertThat(PageAddress.ofRow(PAGE.row())).contains(PAGE);
    PageAddress withPort = new PageAddress("www.example.com:8080", "/");
    assertThat(PageAddress.ofRow(withPort.row())).contains(withPort);
    assertThat(PageAddress.ofRow(Bytes.of("no slash"))).isEmpty();
  }

  @Test
  void relativeLinksAreResolved() {
    String docs = "org.apache.hadoop/docs/hadoop-common/";
    assertThat(row("File.html")).isEqualTo(docs + "org/apache/File.html");
    assertThat(row("../../index.html")).isEqualTo(docs + "index.html");
    assertThat(row("./a/../b.html#x(int[])")).isEqualTo(docs + "org/apache/b.html");
    assertThat(row("..")).isEqualTo(docs + "org/");
    assertThat(row("../../../../../../up.html")).isEqualTo("org.apache.hadoop/up.html");
    assertThat(row("/root.html?q=../x")).isEqualTo("org.apache.hadoop/root.html?q=../x");
    assertThat(row("?page=2")).isEqualTo(docs + "org/apache/Path.html?page=2");
  }

  @Test
  void aLinkWithinThePageLeadsToThePage() {
    assertThat(PAGE.resolve("#method")).contains(PAGE);
    assertThat(PAGE.resolve("")).contains(PAGE);
  }

  @Test
  void absoluteLinksLeadElsewhere() {
    assertThat(row("https://Docs.Oracle.com/en/String.html#x"))
        .isEqualTo("com.oracle.docs/en/String.html");
    assertThat(row("http://example.com")).isEqualTo("com.example/");
    assertThat(row("//example.com:8080/a")).isEqualTo("com.example:8080/a");
    assertThat(row("http://example.com?q")).isEqualTo("com.example/?q");
  }

  @Test
  void whatIsNoWebPageLeadsNowhere() {
    for (String href :
        new String[] {
          "mailto:dev@hadoop.apache.org",
          "javascript:show(1)",
          "http:relative",
          "http://",
          "http://ho st/",
          "with space.html",
          "https://[::1]/"
        }) {
      assertThat(PAGE.resolve(href)).as(href).isEmpty();
    }
  }

  @Test
  void anAddressTooLongForARowLeadsNowhere() {
    assertThat(PAGE.resolve("x".repeat(70_000))).isEmpty();
  }

  @Test
  void aJavadocJarsPagesStandUnderItsArtifact() {
    assertThat(WebtableLoad.address("hadoop-hdfs-client-3.5.0-javadoc.jar!/org/a/B.html"))
        .contains(new PageAddress("hadoop.apache.org", "/docs/hadoop-hdfs-client/org/a/B.html"));
    assertThat(WebtableLoad.address("site.zip!/index.htm"))
        .contains(new PageAddress("hadoop.apache.org", "/docs/site/index.htm"));
    assertThat(WebtableLoad.address("x-1.0-javadoc.jar!/script.js")).isEmpty();
  }
}
