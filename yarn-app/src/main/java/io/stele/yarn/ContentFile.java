package io.stele.yarn;

import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.SystemRuntime;
import java.io.EOFException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.BlockMissingException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file whose name tells its content. It is written once, whole or not at all, and never again:
 * YARN refuses to bring a file to a node that has changed since the container was described.
 */
final class ContentFile {
  private static final Logger LOG = LoggerFactory.getLogger(ContentFile.class);

  private ContentFile() {}

  /**
   * Puts the file there, synced to disk, unless it is there and whole; returns whether it had to be
   * written.
   *
   * @param content writes the content
   */
  static boolean put(
      FileSystem fs, Path target, FsPermission permission, IoConsumer<OutputStream> content)
      throws IOException {
    if (fs.exists(target)) {
      if (isWhole(fs, target)) {
        return false;
      }
      fs.delete(target, false); // Its name would keep it from ever being written again.
    }
    Path temporary =
        target.suffix("." + Long.toHexString(SystemRuntime.INSTANCE.random().nextLong()));
    fs.mkdirs(target.getParent());
    try {
      try (DurableFile out = new DurableFiles(fs).createPrivate(temporary)) {
        fs.setPermission(temporary, permission);
        content.accept(unclosed(out));
        out.hsync(); // The name may outlive a loss of power that bytes do not.
      }
      boolean first = fs.rename(temporary, target);
      if (!first && !fs.exists(target)) { // Else another has put the same, which is as good.
        throw new IOException(target + " could not be made of " + temporary);
      }
      return first;
    } finally {
      fs.delete(temporary, false);
    }
  }

  /** The file for a writer that closes what it writes to: it is synced before it is closed. */
  private static OutputStream unclosed(OutputStream file) {
    return new FilterOutputStream(file) {
      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
      }

      @Override
      public void close() throws IOException {
        flush();
      }
    };
  }

  /**
   * Whether a file has bytes, and the last one of each of its blocks can be read. A file from
   * before they were synced may have lost them when the DataNodes lost power.
   *
   * @throws IOException if that cannot be told
   */
  private static boolean isWhole(FileSystem fs, Path file) throws IOException {
    FileStatus status = fs.getFileStatus(file);
    long blockBytes = Math.max(1, status.getBlockSize());
    try (FSDataInputStream in = fs.open(file)) {
      for (long end = 0; end < status.getLen(); ) {
        end = Math.min(end + blockBytes, status.getLen());
        in.readFully(end - 1, new byte[1], 0, 1);
      }
    } catch (ChecksumException | EOFException e) {
      LOG.warn("{} is not whole, and is written again", file, e);
      return false;
    } catch (BlockMissingException e) {
      // Applications that run may use it, and YARN takes a file that is written again for another.
      throw new IOException(
          file
              + " has a block that no DataNode has now: start the DataNodes that have it and try"
              + " again; if they are lost for good, delete this file and try again",
          e);
    }
    return status.getLen() > 0;
  }
}
