package io.stele.examples.webtable;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;

/** Who refers to a page and with what words, on its way from mappers to reducers. */
final class Anchors implements Writable {
  private final SortedMap<String, String> textByReferrer = new TreeMap<>();

  /** Filled by {@link #readFields}: for Hadoop. */
  Anchors() {}

  /** One link. */
  static Anchors of(String referrer, String text) {
    Anchors anchors = new Anchors();
    anchors.textByReferrer.put(referrer, text);
    return anchors;
  }

  /** Takes over those of {@code others}. */
  Anchors addAll(Iterable<Anchors> others) {
    others.forEach(other -> textByReferrer.putAll(other.textByReferrer));
    return this;
  }

  /** The links' texts by referring row, in order, whatever the order in which they came. */
  SortedMap<String, String> textByReferrer() {
    return textByReferrer;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeVInt(out, textByReferrer.size());
    for (var anchor : textByReferrer.entrySet()) {
      Text.writeString(out, anchor.getKey());
      Text.writeString(out, anchor.getValue());
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    textByReferrer.clear();
    for (int left = WritableUtils.readVInt(in); left > 0; left--) {
      textByReferrer.put(Text.readString(in), Text.readString(in));
    }
  }
}
