package io.stele.yarn;

import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Our jars as one archive that YARN unpacks on each node. Its name is made of its content, so that
 * a second start of the same build uploads nothing, and nodes that have it fetch nothing.
 */
final class JarArchive {
  private final TreeMap<String, Path> jars = new TreeMap<>();

  /**
   * @throws SteleException REFUSED if there is no jar or two have one name
   */
  JarArchive(List<Path> jars) {
    for (Path jar : jars) {
      if (!Files.isRegularFile(jar)) {
        throw SteleException.refused(
            jar + " does not exist: build Stele first, or correct the directory of its jars");
      }
      Path other = this.jars.putIfAbsent(jar.getFileName().toString(), jar);
      if (other != null && !other.equals(jar)) {
        throw SteleException.refused(jar + " and " + other + " have the same name; remove one");
      }
    }
    if (jars.isEmpty()) {
      throw SteleException.refused("no jars to run in the containers: build Stele first");
    }
  }

  /** What the archive's name is made of: the names and the content of all jars. */
  String hash() throws IOException {
    ContentHash hash = new ContentHash();
    for (Map.Entry<String, Path> jar : jars.entrySet()) {
      hash.add(jar.getKey()).add(Long.toString(Files.size(jar.getValue())));
      try (InputStream in = Files.newInputStream(jar.getValue())) {
        hash.add(in);
      }
    }
    return hash.digits();
  }

  /** Puts the archive at {@code target}, whole or not at all; true when it had to be written. */
  boolean upload(FileSystem fs, org.apache.hadoop.fs.Path target) throws IOException {
    FsPermission usual =
        FsPermission.getFileDefault().applyUMask(FsPermission.getUMask(fs.getConf()));
    return ContentFile.put(fs, target, usual, this::writeTo);
  }

  private void writeTo(OutputStream out) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.setLevel(Deflater.NO_COMPRESSION); // Jars are compressed.
      for (Map.Entry<String, Path> jar : jars.entrySet()) {
        ZipEntry entry = new ZipEntry(jar.getKey());
        entry.setTime(0);
        zip.putNextEntry(entry);
        Files.copy(jar.getValue(), zip);
        zip.closeEntry();
      }
    }
  }
}
