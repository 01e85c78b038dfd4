/** Ready-made jobs over tables: {@link io.stele.mapreduce.jobs.TableJob} is where to begin. */
@NullMarked
package io.stele.mapreduce.jobs;

import org.jspecify.annotations.NullMarked;
