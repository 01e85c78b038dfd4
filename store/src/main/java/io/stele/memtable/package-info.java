/**
 * The sorted cells in memory that take a tablet's writes until a minor compaction makes an SSTable
 * of them. Internal. Begin reading at {@code Memtable}; {@code CellArena} says how cells stand in
 * memory, {@code CellSkipList} how they are kept in order.
 */
package io.stele.memtable;
