package io.stele.tablet;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Files of a tablet that have locality groups in common, directly or through other files.
 * Compactions are chosen within a stack, because none of its cells hides a cell of another stack,
 * or counts against its versions.
 *
 * <p>Usually these are the files of one locality group. After families moved to other groups, files
 * with families of several groups share a stack until a compaction rewrites them.
 *
 * <p>Its layers are in the order of sequence numbers, and do not overlap. A layer is one file; or
 * several with other families each, written by one compaction under other groups. Immutable.
 */
final class FileStack {
  /** Files with the same operations, or nearly: they are compacted together or not at all. */
  record Layer(List<TabletFile> files) {
    long bytes() {
      return files.stream().mapToLong(TabletFile::bytes).sum();
    }

    long maxSequence() {
      return files.stream().mapToLong(file -> file.ref().maxSequence()).max().orElseThrow();
    }

    private long minSequence() {
      return files.stream().mapToLong(file -> file.ref().minSequence()).min().orElseThrow();
    }
  }

  private final SortedSet<String> families;
  private final List<Layer> layers;
  private final long known;

  private FileStack(SortedSet<String> families, List<Layer> layers, long known) {
    this.known = known;
    this.families = families;
    this.layers = List.copyOf(layers);
  }

  /**
   * The stacks of a tablet's files; cleared parts are in none.
   *
   * @param known all operations up to this one are in the files
   */
  static List<FileStack> of(Collection<TabletFile> files, SchemaRules rules, long known) {
    List<List<TabletFile>> parts = new ArrayList<>();
    for (TabletFile file : files) {
      if (file.ref().isCleared()) {
        continue; // Kept for pins as it is.
      }
      Set<String> groups = groups(file, rules);
      List<TabletFile> joined = new ArrayList<>(List.of(file));
      for (int i = parts.size() - 1; i >= 0; i--) {
        if (parts.get(i).stream()
            .anyMatch(other -> !Collections.disjoint(groups(other, rules), groups))) {
          joined.addAll(parts.remove(i));
        }
      }
      parts.add(joined);
    }
    return parts.stream().map(part -> layered(part, known)).toList();
  }

  // Files whose families were all erased form one stack: only operations are left in them.
  private static Set<String> groups(TabletFile file, SchemaRules rules) {
    Set<String> families = file.ref().families();
    return families.isEmpty() ? Set.of("") : rules.byGroup(families).keySet();
  }

  private static FileStack layered(List<TabletFile> files, long known) {
    SortedSet<String> families = new TreeSet<>();
    files.forEach(file -> families.addAll(file.ref().families()));
    files.sort(TabletFile.NEWEST_FIRST);
    List<Layer> layers = new ArrayList<>();
    List<TabletFile> together = new ArrayList<>();
    for (TabletFile file : files) {
      if (!together.isEmpty() && file.ref().maxSequence() < new Layer(together).minSequence()) {
        layers.add(new Layer(List.copyOf(together)));
        together.clear();
      }
      together.add(file);
    }
    layers.add(new Layer(List.copyOf(together)));
    return new FileStack(families, layers, known);
  }

  /** This stack as if it had only {@code some} of its layers. */
  FileStack part(List<Layer> some) {
    SortedSet<String> ofSome = new TreeSet<>();
    some.forEach(layer -> layer.files().forEach(file -> ofSome.addAll(file.ref().families())));
    return new FileStack(ofSome, some, knownTo(some));
  }

  /**
   * Up to which operation nothing else was done to the families of these layers, neighbours in this
   * stack, than what is in them or in older ones.
   */
  long knownTo(List<Layer> some) {
    int newest = layers.indexOf(some.get(0));
    long last = newest == 0 ? known : layers.get(newest - 1).minSequence() - 1;
    return Math.max(last, some.get(0).maxSequence());
  }

  /** The newest layer first. */
  List<Layer> layers() {
    return layers;
  }

  /** All its files, the newest first. */
  List<TabletFile> files() {
    return layers.stream().flatMap(layer -> layer.files().stream()).toList();
  }

  /** Every family of its files. */
  SortedSet<String> families() {
    return families;
  }

  /** Whether some of its files do not match the schema's locality groups. */
  boolean isOutOfGroup(SchemaRules rules) {
    return layers.stream().anyMatch(layer -> isOutOfGroup(layer, rules));
  }

  // Decided by the layer alone: another layer, which may not be compacted now, may join groups to a
  // stack.
  private static boolean isOutOfGroup(Layer layer, SchemaRules rules) {
    Set<String> met = new TreeSet<>();
    for (TabletFile file : layer.files()) {
      Set<String> groups = groups(file, rules);
      if (groups.size() > 1 || (groups.size() == 1 && !met.addAll(groups))) {
        return true;
      }
    }
    return false;
  }

  /** Since when it may hold garbage, in microseconds of the tablet's own time. */
  long collectedMicros() {
    return files().stream().mapToLong(file -> file.ref().collectedMicros()).min().orElseThrow();
  }
}
