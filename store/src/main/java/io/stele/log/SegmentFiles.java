package io.stele.log;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Creates the files of segments, so that a fenced writer cannot and a file system that cannot flush
 * is refused.
 *
 * <p>Files are created without the directories above them (a renamed log directory is not brought
 * back) and never over an existing one. On HDFS they are replicated whatever the directory's
 * erasure coding says, as hflush does nothing on erasure-coded files.
 *
 * <p>The {@code file:} scheme's {@link LocalFileSystem} keeps checksum files, cannot flush, and
 * says so; the raw file system under it can. Its hflush hands the bytes to the operating system
 * (they survive the death of the process), its hsync puts them on disk. Reading through either is
 * right: a file without a checksum file is not checked.
 */
final class SegmentFiles {
  private final FileSystem fs;

  SegmentFiles(FileSystem fs) {
    this.fs = fs instanceof LocalFileSystem local ? local.getRawFileSystem() : fs;
  }

  /**
   * A new file that can be flushed.
   *
   * @throws java.io.FileNotFoundException where its directory is missing
   * @throws org.apache.hadoop.fs.FileAlreadyExistsException where it exists
   * @throws CannotFlushException where the file system cannot flush
   */
  FSDataOutputStream create(Path file) throws IOException {
    FSDataOutputStreamBuilder<?, ?> builder = fs.createFile(file);
    if (builder instanceof DistributedFileSystem.HdfsDataOutputStreamBuilder hdfs) {
      hdfs.replicate();
    }
    builder.overwrite(false);
    FSDataOutputStream out = builder.build();
    @SuppressWarnings("deprecation") // Hadoop names hsync for both; what we call is hflush.
    boolean flushes = out.hasCapability(StreamCapabilities.HFLUSH);
    if (!flushes || !out.hasCapability(StreamCapabilities.HSYNC)) {
      out.close();
      fs.delete(file, false);
      throw new CannotFlushException(
          fs.getUri()
              + " cannot hflush and hsync, so that acknowledged writes could be lost: put the root"
              + " directory on HDFS or another file system that can");
    }
    return out;
  }

  /** The file system cannot keep a commit log, now or later. */
  static final class CannotFlushException extends IOException {
    private static final long serialVersionUID = 1L;

    CannotFlushException(String message) {
      super(message);
    }
  }
}
