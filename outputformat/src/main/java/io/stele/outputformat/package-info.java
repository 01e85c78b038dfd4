/**
 * Tables as MapReduce output: {@link io.stele.outputformat.TableOutputFormat}. Public API; what is
 * not public in it is internal.
 */
package io.stele.outputformat;
