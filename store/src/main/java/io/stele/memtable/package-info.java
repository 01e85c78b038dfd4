/**
 * The sorted cells in memory that receive a tablet's writes until a minor compaction writes them to
 * an SSTable. Internal. Start reading at {@code Memtable}; {@code CellArena} lays cells out in
 * memory, {@code CellSkipList} keeps them in order.
 */
package io.stele.memtable;
