package io.stele.outputformat;

import io.stele.config.JobKeys;
import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Partitioner;

/** Assigns the rows of neighbouring tablets to each reducer. */
public final class TabletPartitioner extends Partitioner<Bytes, Object> implements Configurable {
  private static final String STARTS_KEY = JobKeys.Internal.BULK_STARTS;

  private Configuration conf = new Configuration(false);
  private List<Bytes> starts = List.of();

  /** Made by Hadoop, which then sets its configuration. */
  public TabletPartitioner() {}

  /**
   * Sets where partitions start.
   *
   * @param starts the first rows of all partitions but the first, ascending
   */
  static void setStarts(Configuration conf, List<Bytes> starts) {
    conf.setStrings(
        STARTS_KEY,
        starts.stream()
            .map(row -> Base64.getEncoder().encodeToString(row.toByteArray()))
            .toArray(String[]::new));
  }

  @Override
  public void setConf(Configuration next) {
    conf = next;
    starts = starts(next);
  }

  /** Where partitions start, but for the first one. */
  static List<Bytes> starts(Configuration conf) {
    List<Bytes> rows = new ArrayList<>();
    for (String text : conf.getTrimmedStrings(STARTS_KEY)) {
      rows.add(Bytes.of(Base64.getDecoder().decode(text)));
    }
    return List.copyOf(rows);
  }

  @Override
  public Configuration getConf() {
    return conf;
  }

  @Override
  public int getPartition(Bytes row, Object value, int partitions) {
    int found = Collections.binarySearch(starts, row);
    return found >= 0 ? found + 1 : ~found;
  }
}
