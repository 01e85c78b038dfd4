package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.record.FileRef;
import io.stele.record.JobChange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class JobCommitTest {
  private static final int TABLETS = 500;
  private static final int FILES = 500;

  private static Bytes row(int number) {
    return Bytes.of(String.format("%06d", number));
  }

  private static FileRef file(int number, RowRange bounds) {
    String path = "bulk/job/task_" + number + "-0.sst";
    TreeSet<String> families = new TreeSet<>(Set.of("f"));
    return new FileRef(path, 1, bounds, 1, 1, families, 0, 0, false, 0, new TreeMap<>(Map.of()));
  }

  @Test
  void rowsOfFilesThatOverlapAreAskedOfEachTabletOnce() {
    TreeSet<Bytes> tablets = new TreeSet<>(Set.of(Bytes.EMPTY));
    for (int i = 1; i < TABLETS; i++) {
      tablets.add(row(i * 10));
    }
    List<FileRef> files = new ArrayList<>();
    for (int i = 0; i < FILES; i++) { // As tasks write that sort their rows themselves.
      files.add(file(i, new RowRange(row(i), row(TABLETS * 10 + i))));
    }
    List<RowRanges> parts = JobCommit.united(JobChange.of(files)).orElseThrow().dividedAt(tablets);
    assertThat(parts).hasSize(TABLETS).allMatch(part -> part.ranges().size() == 1);
    assertThat(parts.get(0).first()).isEqualTo(row(0));
    assertThat(parts.get(TABLETS - 1).end()).isEqualTo(row(TABLETS * 10 + FILES - 1));
  }

  @Test
  void aChangeOfNoRowsIsAskedOfNoTablet() {
    assertThat(JobCommit.united(JobChange.of(List.of()))).isEmpty();
    JobChange nothing = new JobChange(List.of(), List.of(RowRange.of("q", "q")));
    assertThat(JobCommit.united(nothing)).isEmpty();
  }
}
