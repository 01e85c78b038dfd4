package io.stele.record;

import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.List;

/**
 * What a job does to one table when it commits.
 *
 * @param files the files that it has written
 * @param replaced rows whose existing cells the commit deletes at the same moment, whether or not
 *     the job has written to them; ranges do not overlap
 */
public record JobChange(List<FileRef> files, List<RowRange> replaced) {
  public JobChange {
    files = List.copyOf(files);
    replaced = List.copyOf(replaced);
    for (int i = 0; i < replaced.size(); i++) {
      for (int j = i + 1; j < replaced.size(); j++) {
        if (replaced.get(i).intersection(replaced.get(j)).isPresent()) {
          throw new IllegalArgumentException(
              "rows " + replaced.get(i) + " and " + replaced.get(j) + " are replaced twice");
        }
      }
    }
  }

  /** Files that come to what there is. */
  public static JobChange of(List<FileRef> files) {
    return new JobChange(files, List.of());
  }

  /** The rows that it may change. */
  public List<RowRange> rows() {
    List<RowRange> rows = new ArrayList<>(replaced);
    files.forEach(file -> rows.add(file.bounds()));
    return rows;
  }
}
