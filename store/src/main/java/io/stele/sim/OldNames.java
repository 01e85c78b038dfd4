package io.stele.sim;

import java.io.FileNotFoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;

/**
 * The names of a {@link CrashableDisk} as they were at one moment, by which a stale NameNode
 * answers. Immutable.
 *
 * @param files by path
 */
record OldNames(NavigableMap<String, Seen> files) {
  /**
   * What was to be seen of a file or directory.
   *
   * @param path of it
   * @param length of what readers saw
   */
  record Seen(String path, CrashableDisk.Node node, long length) {}

  Seen status(String path) throws FileNotFoundException {
    Seen seen = files.get(path);
    if (seen == null) {
      throw new FileNotFoundException(path);
    }
    return seen;
  }

  List<Seen> list(String path) throws FileNotFoundException {
    Seen seen = status(path);
    return seen.node().directory
        ? children(files, path).stream().map(files::get).toList()
        : List.of(seen);
  }

  /** The paths of {@code files} that are directly in the directory {@code path}. */
  static List<String> children(NavigableMap<String, ?> files, String path) {
    String prefix = path.equals("/") ? "/" : path + "/";
    List<String> children = new ArrayList<>();
    for (String child : files.tailMap(prefix, true).keySet()) {
      if (!child.startsWith(prefix)) {
        break;
      }
      if (child.length() > prefix.length() && child.indexOf('/', prefix.length()) < 0) {
        children.add(child);
      }
    }
    return children;
  }
}
