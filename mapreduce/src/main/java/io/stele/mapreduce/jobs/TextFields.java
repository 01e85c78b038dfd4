package io.stele.mapreduce.jobs;

import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.Text;

/**
 * The fields of a line of text, as the bytes that they are. In {@link ImportText.Format#CSV} a
 * field may be in quotes, as RFC 4180 has it:
 *
 * <pre>
 * line  := field (separator field)*
 * field := '"' (any but '"' | '""')* '"'  |  (any but separator and '"')*
 * </pre>
 *
 * A field cannot have a line break. A line from the middle of one that has cannot be told from
 * others, unless it has a quote in a wrong place, as the last of such lines mostly has.
 *
 * <p>Immutable.
 */
final class TextFields {
  private static final byte QUOTE = '"';

  private final byte[] separator;
  private final boolean quoted;

  /** Fields with {@code separator} between them. */
  TextFields(byte[] separator, ImportText.Format format) {
    this.separator = separator.clone();
    this.quoted = format == ImportText.Format.CSV;
  }

  /** A line that has no fields, because its quotes are wrong. */
  static final class BadQuotesException extends Exception {
    private static final long serialVersionUID = 1;

    private BadQuotesException(String message) {
      super(message);
    }
  }

  /**
   * Splits a line.
   *
   * @throws BadQuotesException with the place, counted from the line's first byte, as 0
   */
  List<Bytes> split(Text line) throws BadQuotesException {
    List<Bytes> fields = new ArrayList<>();
    int at = 0;
    while (true) {
      boolean isQuoted = quoted && at < line.getLength() && line.getBytes()[at] == QUOTE;
      int end = isQuoted ? afterQuotes(line, at) : afterPlain(line, at);
      fields.add(isQuoted ? unquoted(line, at + 1, end - 1) : copy(line, at, end));
      if (end == line.getLength()) {
        return fields;
      }
      at = end + separator.length;
    }
  }

  /** Where the field ends that begins at {@code from}, without a quote. */
  private int afterPlain(Text line, int from) throws BadQuotesException {
    int at = from;
    while (at < line.getLength() && !isSeparator(line, at)) {
      if (quoted && line.getBytes()[at] == QUOTE) {
        throw new BadQuotesException(
            "has a quote at byte " + at + " of it, in a field that does not begin with one");
      }
      at++;
    }
    return at;
  }

  private boolean isSeparator(Text line, int at) {
    int end = at + separator.length;
    return end <= line.getLength()
        && Arrays.equals(line.getBytes(), at, end, separator, 0, separator.length);
  }

  /** Where the field ends that begins with the quote at {@code open}. */
  private int afterQuotes(Text line, int open) throws BadQuotesException {
    byte[] bytes = line.getBytes();
    int at = open + 1;
    while (at < line.getLength()) {
      if (bytes[at] != QUOTE) {
        at++;
      } else if (at + 1 < line.getLength() && bytes[at + 1] == QUOTE) {
        at += 2;
      } else if (at + 1 == line.getLength() || isSeparator(line, at + 1)) {
        return at + 1;
      } else {
        throw new BadQuotesException(
            "has text between the quote at byte " + at + " of it and the next separator");
      }
    }
    throw new BadQuotesException(
        "does not close the quote at byte "
            + open
            + " of it. A record is one line: a field cannot have a line break, not even in quotes,"
            + " as files are divided between tasks at line breaks");
  }

  private static Bytes copy(Text line, int from, int to) {
    return Bytes.of(line.getBytes(), from, to - from);
  }

  /** The bytes between two quotes, of which two quotes are one. */
  private static Bytes unquoted(Text line, int from, int to) {
    byte[] text = new byte[to - from];
    int length = 0;
    for (int at = from; at < to; at++) {
      text[length++] = line.getBytes()[at];
      if (line.getBytes()[at] == QUOTE) {
        at++; // The second of two.
      }
    }
    return Bytes.of(text, 0, length);
  }
}
