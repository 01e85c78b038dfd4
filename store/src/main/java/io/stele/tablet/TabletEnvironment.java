package io.stele.tablet;

import io.stele.memtable.MemoryAccount;
import io.stele.runtime.ProcessRuntime;
import io.stele.sstable.BlockCache;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * All that a tablet touches outside of itself.
 *
 * @param runtime of its process; the wall clock may jump, the tablet's own time never goes back
 * @param fs where its files are
 * @param root the directory that the paths of files are relative to
 * @param cache for blocks of SSTables, shared by all tablets of a server
 * @param memtables what counts the memory of its memtables
 * @param log where its operations are made durable
 * @param manifest where its files are recorded
 * @param pace how fast merging and major compactions may go
 * @param options what an operator may turn
 */
public record TabletEnvironment(
    ProcessRuntime runtime,
    FileSystem fs,
    Path root,
    BlockCache cache,
    MemoryAccount memtables,
    TabletLog log,
    Manifest manifest,
    CompactionPace pace,
    TabletOptions options) {}
