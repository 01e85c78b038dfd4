/**
 * Stele as a YARN application: the submitter, the ApplicationMaster and the launch of containers.
 *
 * <p>{@link io.stele.yarn.YarnSubmitter} is the entry point, used by the command line; everything
 * else is internal. {@link io.stele.yarn.Planner}, a pure function, decides what the
 * ApplicationMaster does; a thin layer around it calls YARN.
 */
package io.stele.yarn;
