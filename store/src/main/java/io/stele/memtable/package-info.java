/**
 * The sorted cells in memory that take a tablet's writes until a minor compaction makes an SSTable
 * of them. Internal. Start reading at {@code Memtable}; {@code CellArena} lays cells out in memory,
 * {@code CellSkipList} keeps them in order.
 */
package io.stele.memtable;
