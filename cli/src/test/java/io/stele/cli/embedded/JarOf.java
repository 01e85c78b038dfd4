package io.stele.cli.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

/** Jars for jobs whose classes are those of a test. */
public final class JarOf {
  private JarOf() {}

  /** A jar with these classes; their nested classes are to be named too. */
  public static Path classes(Class<?>... classes) throws IOException {
    Path jar =
        Files.createTempFile(Files.createDirectories(Path.of("target", "jars")), "job", ".jar");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file)) {
      for (Class<?> type : classes) {
        String entry = type.getName().replace('.', '/') + ".class";
        out.putNextEntry(new JarEntry(entry));
        try (InputStream in = type.getClassLoader().getResourceAsStream(entry)) {
          in.transferTo(out);
        }
      }
    }
    return jar;
  }
}
