/**
 * The sorted cells in memory that take a tablet's writes until a minor compaction makes an SSTable
 * of them. Internal.
 */
package io.stele.memtable;
