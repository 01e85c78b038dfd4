/**
 * Stele as a YARN application: the submitter, the ApplicationMaster and the launch of containers.
 *
 * <p>{@link io.stele.yarn.YarnSubmitter} is the one door, used by the command line; everything else
 * is internal. What the ApplicationMaster does is decided by {@link io.stele.yarn.Planner}, a pure
 * function; YARN's clients sit in a thin shell around it.
 */
package io.stele.yarn;
