package io.stele.tablet;

/**
 * The size of a tablet, and its counters since it was opened.
 *
 * @param files number of SSTables
 * @param fileBytes length of what the SSTables have in the tablet's rows
 * @param memtableBytes memory that all memtables take, frozen ones included
 * @param memtableCells cells in all memtables
 * @param reads pages read
 * @param rowsRead rows returned
 * @param operations row operations applied
 * @param refused row operations refused
 * @param minorCompactions minor compactions done
 * @param mergingAndMajorCompactions merging and major compactions done
 */
public record TabletStatistics(
    int files,
    long fileBytes,
    long memtableBytes,
    long memtableCells,
    long reads,
    long rowsRead,
    long operations,
    long refused,
    long minorCompactions,
    long mergingAndMajorCompactions) {}
