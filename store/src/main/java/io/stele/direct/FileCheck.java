package io.stele.direct;

import io.stele.client.PinnedTablets;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.record.FileRef;
import io.stele.record.PinnedTablet;
import io.stele.runtime.Futures;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.SSTable;
import io.stele.sstable.SSTableDump;
import io.stele.sstable.SSTableProperties;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;

/**
 * Checks the files of tablets as a job has pinned them: each block of each file, and whether a file
 * is what its tablet's record says.
 *
 * <p>If a compaction replaces files meanwhile, the files that the record then names are checked
 * instead. For one thread.
 */
public final class FileCheck {
  private final PinnedTablets tablets;
  private final Map<String, Checked> checked = new LinkedHashMap<>(); // By path.

  /**
   * A file that was checked.
   *
   * @param path where it is
   * @param bytes its length
   * @param problems what is wrong with it; empty: nothing
   */
  public record Checked(Path path, long bytes, List<String> problems) {
    public Checked {
      problems = List.copyOf(problems);
    }
  }

  /**
   * A check of files of {@code table}.
   *
   * @param table read at a pin
   */
  public FileCheck(Table table) {
    this.tablets = table.pinnedTablets();
  }

  /**
   * Checks the files of the tablets that begin in {@code rows}, but those that were checked before.
   * So of those who check ranges that tile {@code asked}, each file is checked by one: or by two,
   * if it is a file of two tablets.
   *
   * @param asked all rows to be checked: a tablet begins with the first of them that it has
   * @throws io.stele.model.SteleException REFUSED if the job is over, or a newer version of Stele
   *     wrote a file
   * @throws IOException if the thread was interrupted
   */
  public void run(RowRange rows, RowRange asked) throws IOException {
    Bytes row = rows.start();
    boolean more = true;
    while (more) {
      PinnedTablet tablet = tablets.find(row);
      boolean begins = row.equals(tablet.rows().start()) || row.equals(asked.start());
      if (!begins || check(tablet, row)) {
        row = tablet.rows().end();
        more = !row.isEmpty() && rows.isBeforeEnd(row);
      }
    }
  }

  /** The files that were checked, each once. */
  public List<Checked> files() {
    return List.copyOf(checked.values());
  }

  /** Whether the record named the files to the end; what is new in it is to be checked. */
  private boolean check(PinnedTablet tablet, Bytes row) throws IOException {
    for (FileRef file : tablet.files()) {
      if (!checked.containsKey(file.path())) {
        List<String> problems = problems(tablet, file);
        // A file that is gone shows in many ways: the record decides.
        if (!problems.isEmpty() && !tablets.find(row).files().contains(file)) {
          return false;
        }
        Path path = new Path(tablets.root(), file.path());
        checked.put(file.path(), new Checked(path, file.length(), problems));
      }
    }
    return true;
  }

  private List<String> problems(PinnedTablet tablet, FileRef file) throws IOException {
    List<String> problems = new ArrayList<>();
    if (!tablet.rows().covers(file.bounds())) {
      problems.add(
          "the record of tablet "
              + tablet.id()
              + " has rows "
              + file.bounds()
              + " of it, which are not all in the tablet's, "
              + tablet.rows());
    }
    Path path = new Path(tablets.root(), file.path());
    try {
      SSTableDump.verify(tablets.files(), path, file.length(), tablets::alive)
          .forEach(problem -> problems.add(problem.toString()));
      checkSequences(path, file);
    } catch (CorruptionException e) {
      // What cannot even be opened was told above.
      if (problems.isEmpty()) {
        problems.add("at offset " + e.offset() + ": " + e.detail());
      }
    } catch (FileNotFoundException e) {
      problems.add("the file is missing");
    } catch (IOException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      problems.add("the file cannot be read: " + e.getMessage());
    }
    return problems;
  }

  private void checkSequences(Path path, FileRef file) throws IOException {
    try (SSTable table =
        SSTable.open(tablets.files(), path, file.length(), NoBlockCache.INSTANCE)) {
      SSTableProperties told = table.properties();
      file.checkSequences(told.cells(), told.minSequence(), told.maxSequence());
    }
  }
}
