package io.stele.metadata;

import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.JobFileProto;

/** Files of jobs in requests. */
public final class JobFileRefs {
  private JobFileRefs() {}

  /** A file as a request names it. */
  public static JobFileProto encode(FileRef file) {
    return JobFileProto.newBuilder()
        .setPath(file.path())
        .setLength(file.length())
        .setStartRow(ByteStrings.of(file.bounds().start()))
        .setEndRow(ByteStrings.of(file.bounds().end()))
        .addAllFamilies(file.families())
        .build();
  }

  /**
   * A file that a request names.
   *
   * @throws SteleException REFUSED if it is none of the job
   */
  public static PendingFile decode(String job, JobFileProto file) {
    try {
      return new PendingFile(
          job,
          PendingFile.unnumbered(
              file.getPath(),
              file.getLength(),
              ByteStrings.range(file.getStartRow(), file.getEndRow()),
              file.getFamiliesList()));
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
  }
}
