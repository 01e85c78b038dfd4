package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.NewerFormatException;
import io.stele.model.RowRange;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.FileCaching;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import io.stele.sstable.SSTableOptions;
import io.stele.sstable.SSTableWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** The writer of a job's file may be anybody: a tablet believes none of its meta blocks. */
class JobFileBlocksTest {
  private static final Path ROOT = new Path("/stele");

  private final CrashableFileSystem fs = CrashableFileSystem.create();
  private final OpenSSTables sstables =
      new OpenSSTables(SystemRuntime.INSTANCE, fs, NoBlockCache.INSTANCE);

  /** Opens a file with damaged blocks, and restores the operations that it has. */
  private void open(String path) throws IOException {
    long length;
    try (SSTableWriter writer =
        SSTableWriter.create(fs, new Path(ROOT, path), SSTableOptions.DEFAULT, path.hashCode())) {
      writer.metaBlock(OperationsBlock.NAME, Bytes.of(new byte[] {9}));
      if (PendingFile.isOfJob(path)) {
        for (String small : List.of(SurplusCounts.NAME, OldestVersions.NAME, FormerCounts.NAME)) {
          writer.lastMetaBlock(small, Bytes.of(new byte[] {9}));
        }
      }
      length = writer.finish().length();
    }
    FileRef ref = PendingFile.unnumbered(path, length, RowRange.ALL, List.of("f"));
    TabletFile file = TabletFile.open(sstables, ROOT, ref, FileCaching.NORMAL);
    OperationWindow window =
        new OperationWindow(
            SystemRuntime.INSTANCE, Duration.ofHours(1), OperationBudget.unlimited());
    try {
      file.restoreOperations(window);
    } finally {
      window.close();
      file.release();
    }
  }

  @Test
  void whatAJobsFileSaysOfOperationsAndVersionsIsIgnored() throws IOException {
    open("bulk/job/1.sst");
    assertThat(sstables.count()).isZero();
  }

  @Test
  void aTabletsOwnFileIsOfALaterVersionThenAndNotDamaged() {
    assertThatThrownBy(() -> open("tables/t1/00/1-1.sst"))
        .isInstanceOf(NewerFormatException.class)
        .hasMessageContaining("tables/t1/00/1-1.sst")
        .hasMessageContaining("operations of version 9");
  }
}
