package io.stele.benchmarks;

import io.stele.format.Compression;
import io.stele.format.MalformedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;

/**
 * SSTables in pieces of whole blocks: read from front to back, the checksum of each block checked,
 * each block uncompressed, and no cell looked at. What a reader of tables does more than this is
 * its own cost. It shares no code with the store's reader; docs/formats/sstable.md says what a file
 * looks like.
 */
final class CheckedInputFormat extends FileInputFormat<LongWritable, NullWritable> {
  private static final int HEADER_BYTES = 24;
  private static final int FOOTER_BYTES = 64;

  /** The bytes of a file that are in no block. */
  static final int OUTSIDE_BYTES = HEADER_BYTES + FOOTER_BYTES;

  @Override
  protected boolean isSplitable(JobContext context, Path file) {
    return false; // Blocks are found from the start.
  }

  @Override
  public RecordReader<LongWritable, NullWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new Pieces();
  }

  private static final class Pieces extends RecordReader<LongWritable, NullWritable> {
    private static final int PIECE_BYTES = 256 << 10;
    private static final int FILE_ID_AT = 12;
    private static final int BLOCK_HEADER_BYTES = 10;
    private static final int RAW_LENGTH_AT = 4;
    private static final int CODEC_AT = 9;
    private static final int CRC_BYTES = 4;

    private final LongWritable checked = new LongWritable(); // Bytes of the piece.
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer place = little(new byte[2 * Long.BYTES]); // File id and offset.
    private ByteBuffer buffer = little(new byte[PIECE_BYTES]);
    private byte[] uncompressed = new byte[0];
    private FSDataInputStream in;
    private long start; // Of the buffer, in the file.
    private int size;
    private int done; // Of the buffer.
    private long end;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) throws IOException {
      FileSplit file = (FileSplit) split;
      end = file.getLength() - FOOTER_BYTES;
      in = file.getPath().getFileSystem(context.getConfiguration()).open(file.getPath());
      in.readFully(buffer.array(), 0, HEADER_BYTES);
      start = HEADER_BYTES;
      place.putLong(0, buffer.getLong(FILE_ID_AT));
    }

    @Override
    public boolean nextKeyValue() throws IOException {
      if (start + done == end) {
        return false;
      }
      fill();
      while (size - done >= BLOCK_HEADER_BYTES) {
        int length = BLOCK_HEADER_BYTES + buffer.getInt(done) + CRC_BYTES;
        if (length > size - done) {
          grow(length);
          break;
        }
        check(done, length);
        done += length;
      }
      checked.set(done);
      return true;
    }

    /** Keeps what is left of the buffer, and reads what follows. */
    private void fill() throws IOException {
      byte[] bytes = buffer.array();
      System.arraycopy(bytes, done, bytes, 0, size - done);
      start += done;
      size -= done;
      done = 0;
      int more = (int) Math.min(bytes.length - size, end - start - size);
      in.readFully(bytes, size, more);
      size += more;
    }

    private void grow(int length) {
      if (length > buffer.capacity()) {
        buffer = little(Arrays.copyOf(buffer.array(), length));
      }
    }

    private void check(int at, int length) throws IOException {
      byte[] bytes = buffer.array();
      place.putLong(Long.BYTES, start + at);
      crc.reset();
      crc.update(bytes, at, length - CRC_BYTES);
      crc.update(place.array(), 0, place.capacity());
      if ((int) crc.getValue() != buffer.getInt(at + length - CRC_BYTES)) {
        throw new IOException("the block at " + (start + at) + " does not match its checksum");
      }
      int codec = bytes[at + CODEC_AT];
      if (codec != 0) {
        uncompress(codec, at + BLOCK_HEADER_BYTES, length, buffer.getInt(at + RAW_LENGTH_AT));
      }
    }

    private void uncompress(int codec, int at, int length, int rawLength) throws IOException {
      if (uncompressed.length < rawLength) {
        uncompressed = new byte[rawLength];
      }
      int contents = length - BLOCK_HEADER_BYTES - CRC_BYTES;
      try {
        Compression.uncompress(
            Compression.ofCode(codec).orElseThrow(),
            buffer.array(),
            at,
            contents,
            uncompressed,
            rawLength);
      } catch (MalformedException e) {
        throw new IOException(e);
      }
    }

    private static ByteBuffer little(byte[] bytes) {
      return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public LongWritable getCurrentKey() {
      return checked;
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    @Override
    public float getProgress() {
      return (float) (start + done) / Math.max(1, end);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
