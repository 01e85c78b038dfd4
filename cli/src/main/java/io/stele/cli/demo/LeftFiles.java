package io.stele.cli.demo;

import io.stele.cli.TextTable;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** The files that a demo leaves when it has ended. */
final class LeftFiles {
  private LeftFiles() {}

  /** How large they are, and how to delete them. */
  static String text(Path directory) throws IOException {
    return "Its files are left in "
        + directory
        + " ("
        + TextTable.size(bytes(directory))
        + "). To delete them: rm -r '"
        + directory
        + "'";
  }

  private static long bytes(Path directory) throws IOException {
    long[] sum = {0};
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            sum[0] += attributes.size();
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure) {
            return FileVisitResult.CONTINUE; // A process that is ending has deleted it.
          }
        });
    return sum[0];
  }
}
