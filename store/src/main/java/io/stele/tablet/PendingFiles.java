package io.stele.tablet;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.sstable.SSTableProperties;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The files that wait for the end of jobs. Each is opened once: it is checked when it is
 * registered, and stays open until the tablet takes it. Those that waited when the tablet was
 * opened are opened when they are taken. Safe for use by any number of threads.
 */
final class PendingFiles {
  private final TabletCore core;

  @GuardedBy("this")
  private final Map<String, TabletFile> open = new HashMap<>(); // By path.

  @GuardedBy("this")
  private boolean closed;

  PendingFiles(TabletCore core) {
    this.core = core;
  }

  /**
   * Opens a file, and checks, as far as possible in advance, that it can be taken.
   *
   * @throws io.stele.model.CorruptionException if it is damaged
   * @throws SteleException REFUSED if it was not written for a job
   */
  void check(PendingFile file) throws IOException {
    TabletFile opened = TabletFile.open(core.environment(), file.file(), core.rules());
    SSTableProperties properties = opened.table().properties();
    if (properties.cells() > 0
        && (properties.minSequence() != PendingFile.UNNUMBERED
            || properties.maxSequence() != PendingFile.UNNUMBERED)) {
      opened.release();
      throw SteleException.refused(
          file.file().path() + " was not written for a job: its cells have sequence numbers");
    }
    keep(file.file().path(), opened).ifPresent(TabletFile::release);
  }

  /** The paths of those files that have tombstones of whole rows. */
  Set<String> withRowTombstones(List<Pending> waiting) throws IOException {
    Set<String> paths = new HashSet<>();
    for (Pending one : waiting) {
      if (one instanceof PendingFile file && hasRowTombstones(file)) {
        paths.add(file.file().path());
      }
    }
    return paths;
  }

  private boolean hasRowTombstones(PendingFile file) throws IOException {
    Optional<TabletFile> known = find(file.file().path());
    if (known.isEmpty()) { // The tablet was loaded since the file was registered.
      check(file);
      known = find(file.file().path());
    }
    return known.isPresent() && known.get().table().properties().rowTombstones() > 0;
  }

  private synchronized Optional<TabletFile> find(String path) {
    return Optional.ofNullable(open.get(path));
  }

  /** Returns what is not needed any more. */
  private synchronized Optional<TabletFile> keep(String path, TabletFile opened) {
    return closed ? Optional.of(opened) : Optional.ofNullable(open.put(path, opened));
  }

  /**
   * A file under the reference that the tablet has for it from now on; the caller is its holder.
   */
  TabletFile take(FileRef ref) throws IOException {
    Optional<TabletFile> waiting = remove(ref.path());
    return waiting.isPresent()
        ? waiting.get().under(ref)
        : TabletFile.open(core.environment(), ref, core.rules());
  }

  private synchronized Optional<TabletFile> remove(String path) {
    return Optional.ofNullable(open.remove(path));
  }

  /** Closes those of the files that wait no more. */
  void forget(Collection<? extends Pending> changes) {
    for (Pending change : changes) {
      if (change instanceof PendingFile file) {
        remove(file.file().path()).ifPresent(TabletFile::release);
      }
    }
  }

  /** Closes all files, now and later. */
  void close() {
    removeAll().forEach(TabletFile::release);
  }

  private synchronized List<TabletFile> removeAll() {
    closed = true;
    List<TabletFile> all = List.copyOf(open.values());
    open.clear();
    return all;
  }
}
