package io.stele.mapreduce.jobs;

import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.Text;

/** The fields of a line of text, as the bytes that they are. */
final class TextFields {
  private TextFields() {}

  static List<Bytes> split(Text line, byte[] separator) {
    List<Bytes> fields = new ArrayList<>();
    byte[] bytes = line.getBytes();
    int start = 0;
    for (int at = 0; at + separator.length <= line.getLength(); ) {
      if (Arrays.equals(bytes, at, at + separator.length, separator, 0, separator.length)) {
        fields.add(Bytes.of(Arrays.copyOfRange(bytes, start, at)));
        at += separator.length;
        start = at;
      } else {
        at++;
      }
    }
    fields.add(Bytes.of(Arrays.copyOfRange(bytes, start, line.getLength())));
    return fields;
  }
}
