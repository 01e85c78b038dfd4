package io.stele.outputformat;

/**
 * What the reducer of a task has thrown, as {@link ReportingReducer} tells it to the writer of the
 * task: as a key, in the place of a record.
 */
record ReducerFailure(Throwable why) {}
