package io.stele.log;

import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.format.Crc32c;
import io.stele.model.CorruptionException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Small text files of a fenced log: a first line that says what it is, lines, and a last line with
 * the checksum of all before ({@code docs/formats/log.md}).
 */
final class CheckedLines {
  private CheckedLines() {}

  /** Writes a new file, which is on disk when this returns. */
  static void write(DurableFiles files, Path file, String firstLine, List<String> lines)
      throws IOException {
    StringBuilder text = new StringBuilder(firstLine).append('\n');
    lines.forEach(line -> text.append(line).append('\n'));
    text.append(checksumLine(text.toString()));
    try (DurableFile out = files.create(file)) {
      out.write(text.toString().getBytes(StandardCharsets.UTF_8));
      out.hsync();
    }
  }

  /**
   * The lines of a file between the first and the last.
   *
   * @param what it should be: "a list of segments"
   * @throws CorruptionException if it is not that, or its checksum is wrong
   * @throws FileNotFoundException if there is no such file
   */
  static List<String> read(FileSystem fs, Path file, String firstLine, String what)
      throws IOException {
    String text;
    try (FSDataInputStream in = fs.open(file)) {
      // Whole, however long: what has been written must be readable.
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    int last = text.lastIndexOf('\n', text.length() - 2) + 1;
    if (!text.substring(last).equals(checksumLine(text.substring(0, last)))) {
      throw new CorruptionException(file.toString(), last, "its checksum is wrong");
    }
    List<String> lines = text.substring(0, last).lines().toList();
    if (lines.isEmpty() || !lines.get(0).equals(firstLine)) {
      throw new CorruptionException(file.toString(), 0, "not " + what);
    }
    return lines.subList(1, lines.size());
  }

  private static String checksumLine(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return String.format(Locale.ROOT, "crc32c %08x\n", Crc32c.of(bytes, 0, bytes.length));
  }
}
