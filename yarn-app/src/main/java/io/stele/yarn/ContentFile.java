package io.stele.yarn;

import io.stele.runtime.IoConsumer;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * A file whose name tells its content. It is written once, whole or not at all, and never again:
 * YARN refuses to bring a file to a node that has changed since the container was described.
 */
final class ContentFile {
  private ContentFile() {}

  /**
   * Puts the file there unless it is there; returns whether it had to be written.
   *
   * @param content writes the content
   */
  static boolean put(
      FileSystem fs, Path target, FsPermission permission, IoConsumer<OutputStream> content)
      throws IOException {
    if (fs.exists(target)) {
      return false;
    }
    Path temporary =
        target.suffix("." + Long.toHexString(SystemRuntime.INSTANCE.random().nextLong()));
    fs.mkdirs(target.getParent());
    try {
      try (OutputStream out = FileSystem.create(fs, temporary, permission)) {
        content.accept(out);
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
}
