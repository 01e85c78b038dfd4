/**
 * Jobs over tables: {@link io.stele.mapreduce.SteleJob} sets one up in a line, and there are
 * ready-made ones. Public API; what is not public in it is internal.
 */
package io.stele.mapreduce;
