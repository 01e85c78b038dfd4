package io.stele.files;

import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;

/** Finds the file system that really holds a file. */
final class Mounts {
  private Mounts() {}

  /**
   * The first that is {@code wanted} of {@code fs} and what is behind it: behind a mount table
   * (ViewFS) and behind whatever filters the calls.
   *
   * @param resolved the file's name as {@link FileSystem#resolvePath} gives it
   */
  static Optional<FileSystem> find(FileSystem fs, URI resolved, Predicate<FileSystem> wanted) {
    if (wanted.test(fs)) {
      return Optional.of(fs);
    }
    if (fs instanceof FilterFileSystem filter) {
      return find(filter.getRawFileSystem(), resolved, wanted);
    }
    FileSystem[] mounted = fs.getChildFileSystems();
    return (mounted == null ? List.<FileSystem>of() : Arrays.asList(mounted))
        .stream()
            .filter(child -> isOf(child.getUri(), resolved))
            .flatMap(child -> find(child, resolved, wanted).stream())
            .findFirst();
  }

  private static boolean isOf(URI fileSystem, URI file) {
    return Objects.equals(fileSystem.getScheme(), file.getScheme())
        && Objects.equals(fileSystem.getAuthority(), file.getAuthority());
  }
}
