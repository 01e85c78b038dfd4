/**
 * Tables as MapReduce output: {@link io.stele.outputformat.TableOutputFormat} writes through the
 * tablet servers, {@link io.stele.outputformat.BulkOutputFormat} writes files. Public API; classes
 * that are not public are internal.
 */
package io.stele.outputformat;
