/**
 * Tables as MapReduce input: {@link io.stele.inputformat.TableInputFormat}. Public API; what is not
 * public in it is internal.
 */
package io.stele.inputformat;
