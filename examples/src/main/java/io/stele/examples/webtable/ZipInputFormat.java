package io.stele.examples.webtable;

import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;

/**
 * The files in zip files: the key is {@code <zip file's name>!/<name in it>}, the value what it
 * holds.
 *
 * <p>A zip file can be cut between any two entries, since it has a directory at its end: splits are
 * runs of entries of about {@code mapreduce.input.fileinputformat.split.maxsize} bytes, 8 MiB by
 * default.
 */
final class ZipInputFormat extends FileInputFormat<Text, BytesWritable> {
  private static final long SPLIT_BYTES = 8 << 20;

  @Override
  public List<InputSplit> getSplits(JobContext job) throws IOException {
    long most = job.getConfiguration().getLong(SPLIT_MAXSIZE, SPLIT_BYTES);
    List<InputSplit> splits = new ArrayList<>();
    for (FileStatus file : listStatus(job)) {
      if (file.isFile()) {
        FileSystem fs = file.getPath().getFileSystem(job.getConfiguration());
        split(fs, file, most, splits);
      }
    }
    return splits;
  }

  private static void split(FileSystem fs, FileStatus file, long most, List<InputSplit> splits)
      throws IOException {
    List<ZipDirectory.Entry> entries = ZipDirectory.read(fs, file);
    if (entries.isEmpty()) {
      return;
    }
    long start = entries.get(0).offset();
    for (int i = 0; i < entries.size(); i++) {
      ZipDirectory.Entry entry = entries.get(i);
      boolean last = i + 1 == entries.size();
      long end = last ? entry.offset() + entry.compressedBytes() : entries.get(i + 1).offset();
      if (last || end - start >= most) {
        BlockLocation[] blocks = fs.getFileBlockLocations(file, start, end - start);
        String[] hosts = blocks.length == 0 ? new String[0] : blocks[0].getHosts();
        splits.add(new FileSplit(file.getPath(), start, end - start, hosts));
        start = end;
      }
    }
  }

  @Override
  public RecordReader<Text, BytesWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new Reader();
  }

  /** Reads the entries whose local header begins within the split. */
  private static final class Reader extends RecordReader<Text, BytesWritable> {
    private final Text key = new Text();
    private BytesWritable value = new BytesWritable();
    private FileSplit split;
    private Path file;
    private FSDataInputStream in;
    private List<ZipDirectory.Entry> entries;
    private int next;

    @Override
    public void initialize(InputSplit inputSplit, TaskAttemptContext context) throws IOException {
      split = (FileSplit) inputSplit;
      file = split.getPath();
      FileSystem fs = file.getFileSystem(context.getConfiguration());
      long start = split.getStart();
      long end = start + split.getLength();
      entries =
          ZipDirectory.read(fs, fs.getFileStatus(file)).stream()
              .filter(entry -> entry.offset() >= start && entry.offset() < end)
              .toList();
      in = fs.open(file);
    }

    @Override
    public boolean nextKeyValue() throws IOException {
      while (next < entries.size()) {
        ZipDirectory.Entry entry = entries.get(next++);
        if (!entry.name().endsWith("/")) {
          read(entry);
          return true;
        }
      }
      return false;
    }

    private void read(ZipDirectory.Entry entry) throws IOException {
      in.seek(entry.offset());
      try (ZipInputStream zip = new ZipInputStream(new BufferedInputStream(new KeptOpen(in)))) {
        ZipEntry found = zip.getNextEntry();
        if (found == null || !found.getName().equals(entry.name())) {
          throw new IOException(
              file + " is damaged: there is no " + entry.name() + " where it should be");
        }
        key.set(file.getName() + "!/" + entry.name());
        value = new BytesWritable(zip.readAllBytes());
      }
    }

    @Override
    public Text getCurrentKey() {
      return key;
    }

    @Override
    public BytesWritable getCurrentValue() {
      return value;
    }

    @Override
    public float getProgress() {
      if (entries.isEmpty() || next == entries.size()) {
        return 1;
      }
      return (float) ((double) (entries.get(next).offset() - split.getStart()) / split.getLength());
    }

    @Override
    public void close() throws IOException {
      if (in != null) {
        in.close();
      }
    }
  }

  /** A stream of which others close only their view. */
  private static final class KeptOpen extends FilterInputStream {
    KeptOpen(FSDataInputStream in) {
      super(in);
    }

    @Override
    public void close() {}
  }
}
