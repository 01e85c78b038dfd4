package io.stele.benchmarks;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.fs.FileUtil;

/** Directories for gigabytes that nobody needs once the process has ended. */
final class Scratch {
  private Scratch() {}

  /** A new directory, which is deleted when the process ends. */
  static File directory(String name) throws IOException {
    File directory = Files.createTempDirectory(name).toFile();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> FileUtil.fullyDelete(directory)));
    return directory;
  }
}
