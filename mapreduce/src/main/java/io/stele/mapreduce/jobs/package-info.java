/** Ready-made jobs over tables. Start reading at {@link io.stele.mapreduce.jobs.TableJob}. */
@NullMarked
package io.stele.mapreduce.jobs;

import org.jspecify.annotations.NullMarked;
