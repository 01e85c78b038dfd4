package io.stele.tablet;

/**
 * The size of a tablet.
 *
 * @param files number of SSTables
 * @param fileBytes length of what the SSTables have in the tablet's rows
 * @param memtableBytes memory that all memtables take, frozen ones included
 */
public record TabletStatistics(int files, long fileBytes, long memtableBytes) {}
