package io.stele.tabletserver;

import io.stele.config.TabletServerConfig;
import io.stele.metadata.Layout;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.ServerClock;
import io.stele.sstable.BlockCache;
import io.stele.sstable.OpenSSTables;
import io.stele.tablet.CompactionPace;
import io.stele.tablet.TabletOptions;
import org.apache.hadoop.fs.FileSystem;

/**
 * Where and how a server's tablets have their files.
 *
 * @param clock the clock for ages of cells
 * @param fs the file system
 * @param layout the directories on it
 * @param sstables the open ones
 * @param pace of the merging and major compactions of users' tablets
 * @param options of tablets
 * @param largeBlocks memory of compactions, for blocks with large values
 */
record TabletStorage(
    ServerClock clock,
    FileSystem fs,
    Layout layout,
    OpenSSTables sstables,
    CompactionPace pace,
    TabletOptions options,
    MemoryRoom largeBlocks) {
  /** The storage that an operator has configured. */
  static TabletStorage of(
      ProcessRuntime runtime,
      ServerClock clock,
      FileSystem fs,
      Layout layout,
      BlockCache cache,
      TabletServerConfig config) {
    return new TabletStorage(
        clock,
        fs,
        layout,
        new OpenSSTables(runtime, fs, cache, config.memory().idleReadaheadBytes()),
        CompactionRate.of(runtime, config.compactionBytesPerSecond()),
        TabletOptions.DEFAULT
            .withReplicasMin(config.logReplicasMin())
            .withValueBytesMax(config.memory().valueBytesMax())
            .withOperationsWindow(config.operationsWindow()),
        new MemoryRoom("large values in compactions", config.memory().largeCompactionBytes()));
  }
}
