package io.stele.client;

import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * The order of {@link Bytes} as the keys of a shuffle, as {@link ModelSerialization} writes them,
 * without reading them back: that of rows, and for equal ones the order in which they were written.
 */
class KeyOrder extends Configured implements RawComparator<Bytes> {
  /**
   * Compares rows alone: keys of the same row are one group. Where a job that was prepared for this
   * is sorted in another order, that groups its keys.
   */
  static final class Groups extends KeyOrder {
    private Optional<RawComparator<Bytes>> other = Optional.empty();

    @Override
    @SuppressWarnings("unchecked") // The job compares its keys by it, and they are Bytes.
    public void setConf(Configuration conf) {
      super.setConf(conf);
      if (conf != null && !ModelSerialization.isSortedByKeyOrder(conf)) {
        Class<?> type = conf.getClass(ModelSerialization.COMPARATOR, KeyOrder.class);
        other = Optional.of((RawComparator<Bytes>) ReflectionUtils.newInstance(type, conf));
      }
    }

    @Override
    public int compare(byte[] a, int aStart, int aLength, byte[] b, int bStart, int bLength) {
      return other.isPresent()
          ? other.get().compare(a, aStart, aLength, b, bStart, bLength)
          : super.compare(a, aStart, aLength, b, bStart, bLength);
    }

    @Override
    public int compare(Bytes a, Bytes b) {
      return other.isPresent() ? other.get().compare(a, b) : super.compare(a, b);
    }

    @Override
    int compareNumbers(byte[] a, int aAt, byte[] b, int bAt) {
      return 0;
    }
  }

  /**
   * Refuses a job with other keys, which would be sorted and grouped at random.
   *
   * @throws SteleException REFUSED
   */
  @Override
  public void setConf(Configuration conf) {
    super.setConf(conf);
    if (conf != null && !ModelSerialization.hasBytesAsKeys(conf)) {
      throw SteleException.refused(
          "the job sorts its keys as rows of tables, but its mappers do not write Bytes as keys: its"
              + " configuration is a copy of another job's. Make a new one, or unset"
              + " mapreduce.job.output.key.comparator.class and"
              + " mapreduce.job.output.group.comparator.class");
    }
  }

  @Override
  public int compare(byte[] a, int aStart, int aLength, byte[] b, int bStart, int bLength) {
    int aFrom = aStart + WritableUtils.decodeVIntSize(a[aStart]);
    int bFrom = bStart + WritableUtils.decodeVIntSize(b[bStart]);
    int aHead = head(a, aStart);
    int bHead = head(b, bStart);
    int aEnd = aFrom + length(aHead);
    int bEnd = bFrom + length(bHead);
    int rows = Arrays.compareUnsigned(a, aFrom, aEnd, b, bFrom, bEnd);
    boolean numbered = aHead < 0 && bHead < 0;
    return rows != 0 || !numbered ? rows : compareNumbers(a, aEnd, b, bEnd);
  }

  /** The length is complemented where numbers follow. */
  private static int length(int head) {
    return head < 0 ? ~head : head;
  }

  /** Compares the tasks, and then the numbers of what one task wrote. */
  int compareNumbers(byte[] a, int aAt, byte[] b, int bAt) {
    int tasks = Integer.compare(head(a, aAt), head(b, bAt));
    return tasks != 0
        ? tasks
        : Long.compare(
            number(a, aAt + WritableUtils.decodeVIntSize(a[aAt])),
            number(b, bAt + WritableUtils.decodeVIntSize(b[bAt])));
  }

  @Override
  public int compare(Bytes a, Bytes b) {
    return a.compareTo(b);
  }

  private static int head(byte[] bytes, int start) {
    try {
      return WritableComparator.readVInt(bytes, start);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long number(byte[] bytes, int start) {
    try {
      return WritableComparator.readVLong(bytes, start);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
