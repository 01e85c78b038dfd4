/**
 * Tables as MapReduce output: {@link io.stele.outputformat.TableOutputFormat}. Public API; classes
 * that are not public are internal.
 */
package io.stele.outputformat;
