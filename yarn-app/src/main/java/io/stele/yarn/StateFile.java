package io.stele.yarn;

import static java.util.Comparator.naturalOrder;

import io.stele.files.HdfsOutage;
import io.stele.runtime.Deadline;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
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
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state that one attempt of the ApplicationMaster leaves for the next, in one small file for
 * each attempt. An attempt reads the file of the latest before it and writes its own only, so
 * nothing that an attempt writes after the next one has begun is ever read. A file is replaced as a
 * whole: a reader sees the old or the new one.
 *
 * <p>Not thread-safe.
 */
final class StateFile {
  private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);
  private static final String TEMPORARY = ".tmp";
  private static final Duration RETRY = Duration.ofMillis(500);

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

  /**
   * The same as {@link #read}, and waits a while for HDFS: an attempt that ends instead is one of
   * the few that YARN grants.
   */
  Optional<ApplicationStateProto> readWhenReachable(ProcessRuntime runtime)
      throws IOException, InterruptedException {
    Deadline patience = Deadline.after(runtime, HdfsOutage.PATIENCE);
    while (true) {
      try {
        return read();
      } catch (IOException e) {
        if (!HdfsOutage.mayHaveCaused(e) || patience.isOver()) {
          throw e;
        }
        LOG.warn("Cannot read what the last attempt left yet; will retry: {}", e.toString());
      }
      runtime.sleep(RETRY);
    }
  }

  /** What the latest attempt before this one wrote; empty when none ever did. */
  Optional<ApplicationStateProto> read() throws IOException {
    Map<ApplicationAttemptId, Path> earlier = earlier();
    Optional<ApplicationAttemptId> latest = earlier.keySet().stream().max(naturalOrder());
    if (latest.isEmpty()) {
      return Optional.empty();
    }
    try (FSDataInputStream in = files.open(earlier.get(latest.get()))) {
      return Optional.of(ApplicationStateProto.parseFrom(in));
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

  /** The files of earlier attempts, also of earlier applications. */
  private Map<ApplicationAttemptId, Path> earlier() throws IOException {
    Map<ApplicationAttemptId, Path> earlier = new HashMap<>();
    String begin = prefix.getName() + ".";
    try {
      RemoteIterator<FileStatus> all = files.listStatus(prefix.getParent());
      while (all.hasNext()) {
        Path file = all.next().getPath();
        String name = file.getName();
        if (name.startsWith(begin) && !name.endsWith(TEMPORARY)) {
          idOf(name.substring(begin.length()))
              .filter(id -> id.compareTo(attempt) < 0)
              .ifPresent(id -> earlier.put(id, file));
        }
      }
    } catch (FileNotFoundException e) {
      return earlier; // No attempt has ever written.
    }
    return earlier;
  }

  private static Optional<ApplicationAttemptId> idOf(String name) {
    try {
      return Optional.of(ApplicationAttemptId.fromString(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // Something else.
    }
  }
}
