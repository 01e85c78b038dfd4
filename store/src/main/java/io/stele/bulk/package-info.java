/**
 * Writing the files of a job, and committing them: what tasks and the job do, whatever framework
 * runs them. Internal: for output formats.
 */
@NullMarked
package io.stele.bulk;

import org.jspecify.annotations.NullMarked;
