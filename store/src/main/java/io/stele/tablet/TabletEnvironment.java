package io.stele.tablet;

import io.stele.memtable.MemoryAccount;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.ServerClock;
import io.stele.sstable.OpenSSTables;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Everything outside of itself that a tablet uses.
 *
 * @param runtime of its process; its wall clock is not used
 * @param clock the wall clock of its server
 * @param fs where its files are
 * @param root the directory that the paths of files are relative to
 * @param sstables opens its files, for all tablets of the server
 * @param memtables counts the memory of its memtables
 * @param operations limits the memory in which its server's tablets remember their clients'
 *     operations
 * @param log where its operations are made durable
 * @param manifest where its files are recorded
 * @param pace how fast merging and major compactions may go
 * @param options the settings of an operator
 * @param largeBlocks memory of all compactions of the server, for blocks with large values
 * @param compactions counts its compactions
 */
public record TabletEnvironment(
    ProcessRuntime runtime,
    ServerClock clock,
    FileSystem fs,
    Path root,
    OpenSSTables sstables,
    MemoryAccount memtables,
    OperationBudget operations,
    TabletLog log,
    Manifest manifest,
    CompactionPace pace,
    TabletOptions options,
    MemoryRoom largeBlocks,
    CompactionCounters compactions) {}
