/**
 * The Webtable of the Bigtable paper, over real pages: {@link
 * io.stele.examples.webtable.WebtableLoad} fills it, {@link
 * io.stele.examples.webtable.WebtableLink} inverts its links, {@link
 * io.stele.examples.webtable.WebtableReport} sums it up, {@link
 * io.stele.examples.webtable.WebtableRank} ranks its pages in several rounds. Each is a MapReduce
 * job that needs nothing but Hadoop's class path and Stele's formats.
 */
package io.stele.examples.webtable;
