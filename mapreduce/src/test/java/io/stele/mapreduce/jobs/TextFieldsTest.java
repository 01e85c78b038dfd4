package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.mapreduce.jobs.ImportText.Format;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.junit.jupiter.api.Test;

class TextFieldsTest {
  private static List<String> split(String line, String separator, Format format)
      throws TextFields.BadQuotesException {
    Text longer = new Text(line + " and the end of an earlier line");
    longer.set(line); // Its array is longer than the line.
    return new TextFields(separator.getBytes(StandardCharsets.UTF_8), format)
        .split(longer).stream().map(field -> field.toUtf8()).toList();
  }

  private static List<String> csv(String line) throws TextFields.BadQuotesException {
    return split(line, ",", Format.CSV);
  }

  @Test
  void plainFieldsAreWhatIsBetweenSeparators() throws Exception {
    assertThat(split("a\t\t\"b\tc\"", "\t", Format.PLAIN)).containsExactly("a", "", "\"b", "c\"");
    assertThat(split("", "\t", Format.PLAIN)).containsExactly("");
    assertThat(split("a\u00a7b\u00a7", "\u00a7", Format.PLAIN)).containsExactly("a", "b", "");
  }

  @Test
  void aFieldInQuotesMayContainSeparatorsAndQuotes() throws Exception {
    assertThat(csv("1,\"Lovelace, Ada\",36")).containsExactly("1", "Lovelace, Ada", "36");
    assertThat(csv("\"say \"\"no\"\"\",\"\"\"\",\"\"")).containsExactly("say \"no\"", "\"", "");
    assertThat(csv("\"a\"")).containsExactly("a");
    assertThat(csv(",,\"b\",")).containsExactly("", "", "b", "");
    assertThat(csv("")).containsExactly("");
    assertThat(split("\"a\u00a7b\"\u00a7c", "\u00a7", Format.CSV)).containsExactly("a\u00a7b", "c");
  }

  private static void assertBad(String line, String why) {
    assertThatThrownBy(() -> csv(line))
        .isInstanceOf(TextFields.BadQuotesException.class)
        .hasMessageContaining(why);
  }

  @Test
  void aQuoteWithinAFieldThatBeginsWithoutOneIsTold() throws Exception {
    assertBad("ada,3.5\" disk", "has a quote at byte 7 of it, in a field that does not begin with");
    assertBad("ada, \"x\"", "has a quote at byte 5 of it");
    assertThat(csv("\"3.5\"\" disk\", x")).containsExactly("3.5\" disk", " x");
  }

  @Test
  void aQuoteThatIsNotClosedIsTold() {
    for (String line : List.of("ada,\"Lovelace, first", "ada,\"", "ada,\"a\"\"")) {
      assertBad(line, "does not close the quote at byte 4 of it");
      assertBad(line, "a field cannot have a line break");
    }
  }

  @Test
  void textAfterAClosingQuoteIsTold() {
    assertBad("\"ada\" x,y", "between the quote at byte 4 of it and the next separator");
  }
}
