package io.stele.tablet;

/**
 * The size of a tablet, and its counters since it was opened.
 *
 * @param files number of SSTables
 * @param fileBytes length of what the SSTables have in the tablet's rows
 * @param memtableBytes memory that all memtables take, frozen ones included
 * @param memtableCells cells in all memtables
 * @param minorCompactions minor compactions done
 * @param mergingAndMajorCompactions merging and major compactions done
 */
public record TabletStatistics(
    int files,
    long fileBytes,
    long memtableBytes,
    long memtableCells,
    long minorCompactions,
    long mergingAndMajorCompactions) {}
