package io.stele.yarn;

import io.stele.model.CorruptionException;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;

/**
 * The state that one attempt of the ApplicationMaster leaves for the next, in one small file for
 * each attempt. An attempt reads the file of the latest before it and writes its own only, so
 * nothing that an attempt writes after the next one has begun is ever read. A file is replaced as a
 * whole: a reader sees the old or the new one.
 *
 * <p>Not thread-safe.
 */
final class StateFile {
  private static final String TEMPORARY = ".tmp";

  private final FileContext files;
  private final Path prefix;
  private final ApplicationAttemptId attempt;
  private boolean earlierDeleted;

  /**
   * @param prefix the path of the files but for the attempts' ids
   * @param attempt who writes
   */
  StateFile(Configuration conf, Path prefix, ApplicationAttemptId attempt) throws IOException {
    this.files = FileContext.getFileContext(prefix.toUri(), conf);
    this.prefix = prefix;
    this.attempt = attempt;
  }

  /** The same as {@link #read}, and waits for HDFS. */
  Optional<ApplicationStateProto> readWhenReachable(ProcessRuntime runtime)
      throws IOException, InterruptedException {
    return new HdfsWait(runtime, attempt).forReading("what the last attempt left", this::read);
  }

  /** What the latest attempt before this one wrote; empty when none ever did. */
  Optional<ApplicationStateProto> read() throws IOException {
    return latest(files, earlier());
  }

  /** What the latest of all attempts wrote, for whoever asks; empty when none ever did. */
  static Optional<ApplicationStateProto> latest(Configuration conf, Path prefix)
      throws IOException {
    FileContext files = FileContext.getFileContext(prefix.toUri(), conf);
    return latest(files, all(files, prefix));
  }

  private static Optional<ApplicationStateProto> latest(
      FileContext files, Map<ApplicationAttemptId, Path> among) throws IOException {
    Optional<Map.Entry<ApplicationAttemptId, Path>> latest =
        among.entrySet().stream().max(Map.Entry.comparingByKey());
    if (latest.isEmpty()) {
      return Optional.empty();
    }
    Path file = latest.get().getValue();
    try (FSDataInputStream in = files.open(file)) {
      return Optional.of(ApplicationStateProto.parseFrom(in));
    } catch (InvalidProtocolBufferException e) {
      throw new CorruptionException(file.toString(), 0, "it is no state: " + e.getMessage());
    }
  }

  /** Writes this attempt's file; the first time it deletes those of earlier ones. */
  void write(ApplicationStateProto state) throws IOException {
    Path own = prefix.suffix("." + attempt);
    Path temporary = own.suffix(TEMPORARY);
    try (FSDataOutputStream out =
        files.create(
            temporary,
            EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE),
            Options.CreateOpts.createParent())) {
      state.writeTo(out);
      out.hsync();
    }
    files.rename(temporary, own, Options.Rename.OVERWRITE);
    if (!earlierDeleted) {
      for (Path file : earlier().values()) {
        files.delete(file, false);
      }
      earlierDeleted = true;
    }
  }

  /** The files of earlier attempts, including those of earlier applications. */
  private Map<ApplicationAttemptId, Path> earlier() throws IOException {
    Map<ApplicationAttemptId, Path> earlier = all(files, prefix);
    earlier.keySet().removeIf(id -> id.compareTo(attempt) >= 0);
    return earlier;
  }

  private static Map<ApplicationAttemptId, Path> all(FileContext files, Path prefix)
      throws IOException {
    Map<ApplicationAttemptId, Path> found = new HashMap<>();
    String begin = prefix.getName() + ".";
    try {
      RemoteIterator<FileStatus> listed = files.listStatus(prefix.getParent());
      while (listed.hasNext()) {
        Path file = listed.next().getPath();
        String name = file.getName();
        if (name.startsWith(begin) && !name.endsWith(TEMPORARY)) {
          idOf(name.substring(begin.length())).ifPresent(id -> found.put(id, file));
        }
      }
    } catch (FileNotFoundException e) {
      return found; // No attempt has ever written.
    }
    return found;
  }

  private static Optional<ApplicationAttemptId> idOf(String name) {
    try {
      return Optional.of(ApplicationAttemptId.fromString(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // Something else.
    }
  }
}
