/**
 * The master: decides which tablet server has which tablet, fences and replaces dead ones, creates,
 * alters and drops tables, and deletes SSTables that are no longer needed. Clients do not need it
 * to read and write.
 *
 * <p>Internal: not part of the public API. All it must remember is in the tablet records and the
 * lock service, so it may stop at any point and another continues. {@link
 * io.stele.master.AssignmentPlanner} decides, as a pure function of a {@link
 * io.stele.master.ClusterSnapshot}; {@link io.stele.master.MasterLoop} looks and acts.
 */
package io.stele.master;
