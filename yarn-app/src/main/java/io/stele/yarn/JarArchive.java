package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.hadoop.fs.FileSystem;

/**
 * Our jars as one archive that YARN unpacks on each node. Its name is made of its content, so that
 * a second start of the same build uploads nothing, and nodes that have it fetch nothing.
 */
final class JarArchive {
  private static final int HASH_DIGITS = 16;

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
    MessageDigest digest = sha256();
    for (Map.Entry<String, Path> jar : jars.entrySet()) {
      digest.update(jar.getKey().getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      digest.update(Long.toString(Files.size(jar.getValue())).getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      try (InputStream in = Files.newInputStream(jar.getValue())) {
        byte[] buffer = new byte[1 << 16];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          digest.update(buffer, 0, n);
        }
      }
    }
    return HexFormat.of().formatHex(digest.digest()).substring(0, HASH_DIGITS);
  }

  /** Puts the archive at {@code target}, whole or not at all; true when it had to be written. */
  boolean upload(FileSystem fs, org.apache.hadoop.fs.Path target) throws IOException {
    if (fs.exists(target)) {
      return false;
    }
    org.apache.hadoop.fs.Path temporary =
        target.suffix("." + Long.toHexString(SystemRuntime.INSTANCE.random().nextLong()));
    fs.mkdirs(target.getParent());
    try {
      try (OutputStream out = fs.create(temporary, false)) {
        writeTo(out);
      }
      // Loses only to another start of the same build, whose archive is as good.
      return fs.rename(temporary, target);
    } finally {
      fs.delete(temporary, false);
    }
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

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new UncheckedIOException(new IOException("this Java has no SHA-256", e));
    }
  }
}
