/**
 * Imagery of the earth, as in section 8.2 of the Bigtable paper: a table of raw images, a job that
 * makes map tiles of them in files, and a table in memory that says where each tile is.
 */
package io.stele.examples.earth;
