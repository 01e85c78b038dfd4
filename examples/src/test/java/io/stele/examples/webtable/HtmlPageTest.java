package io.stele.examples.webtable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.stele.examples.webtable.HtmlPage.Link;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HtmlPageTest {
  private static HtmlPage real() throws IOException {
    try (InputStream in = HtmlPageTest.class.getResourceAsStream("/pages/PathFilter.html")) {
      return HtmlPage.parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @Test
  void aRealPageHasTheLinksOfItsBodyAndNotThoseOfItsBars() throws IOException {
    assertThat(real().links())
        .extracting(Link::href, Link::text)
        .containsExactly(
            tuple("package-summary.html", "org.apache.hadoop.fs"),
            tuple("GlobFilter.html", "GlobFilter"),
            tuple("#accept(org.apache.hadoop.fs.Path)", "accept"),
            tuple("Path.html", "Path"),
            tuple("Path.html", "Path"));
  }

  @Test
  void aRealPageWithoutAStatedLanguageIsInEnglishByItsWords() throws IOException {
    assertThat(real().language()).isEqualTo("en");
  }

  @Test
  void theStatedLanguageCounts() {
    assertThat(HtmlPage.parse("<html lang=\"de-AT\"><body>the and of to in is").language())
        .isEqualTo("de");
    assertThat(HtmlPage.parse("<HTML LANG=fr>").language()).isEqualTo("fr");
  }

  @Test
  void aPageOfFewWordsIsOfNoKnownLanguage() {
    assertThat(HtmlPage.parse("<html lang><p>org.apache.hadoop").language()).isEqualTo("und");
    assertThat(Language.of("der Hund und die Katze sind nicht mit dem Auto da")).isEqualTo("de");
  }

  @Test
  void attributesComeWithAnyQuotesOrNone() {
    assertThat(
            HtmlPage.parse(
                    "<a href='a.html'>A</a><A title=\"x > y\" HREF = b.html>B</A><a href=c>C")
                .links())
        .containsExactly(new Link("a.html", "A"), new Link("b.html", "B"), new Link("c", "C"));
  }

  @Test
  void entitiesAreResolvedInTextAndAddress() {
    assertThat(
            HtmlPage.parse(
                    "<a href=\"q?a=1&amp;b=2\">x &lt;&#105;&#x6e;it&gt;&nbsp; &bogus; & y</a>")
                .links())
        .containsExactly(new Link("q?a=1&b=2", "x <init> &bogus; & y"));
  }

  @Test
  void commentsScriptsAndStylesHaveNoLinks() {
    assertThat(
            HtmlPage.parse(
                    "<!-- <a href=x>x</a> --><script>var a = '<a href=y>y</a>';</script>"
                        + "<style>a { }</style><a href=z>z <!-- no --> end</a>")
                .links())
        .containsExactly(new Link("z", "z end"));
  }

  @Test
  void anAnchorWithoutAddressIsNoLink() {
    assertThat(HtmlPage.parse("<a name=here>here</a>").links()).isEmpty();
  }

  @Test
  void aLongTextIsCut() {
    Link link = HtmlPage.parse("<a href=x>" + "word ".repeat(100) + "</a>").links().get(0);
    assertThat(link.text()).hasSize(200);
  }

  @Test
  void whateverIsCutOffOrScrambledIsReadToItsEnd() throws IOException {
    long seed = Long.getLong("stele.seed", 1);
    Random random = new Random(seed);
    byte[] page;
    try (InputStream in = HtmlPageTest.class.getResourceAsStream("/pages/PathFilter.html")) {
      page = in.readAllBytes();
    }
    for (int round = 0; round < 300; round++) {
      byte[] damaged = page.clone();
      for (int i = random.nextInt(30); i >= 0; i--) {
        damaged[random.nextInt(damaged.length)] =
            (byte) "<>\"'&;/!=- a#".charAt(random.nextInt(13));
      }
      int length = random.nextInt(damaged.length);
      String html = new String(damaged, 0, length, StandardCharsets.UTF_8);
      assertThat(HtmlPage.parse(html).links()).as("seed %d", seed).hasSizeLessThan(20);
    }
  }
}
