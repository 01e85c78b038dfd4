package io.stele.yarn;

import io.stele.model.CorruptionException;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state that one attempt of the ApplicationMaster leaves for the next, in one small file for
 * each attempt. An attempt reads the file of the latest before it and writes its own only, so
 * nothing that an attempt writes after the next one has begun is ever read. A file is replaced as a
 * whole: a reader sees the old or the new one.
 *
 * <p>A file is one message, whose field {@code checksum} comes first: a byte that has changed is
 * noticed, and earlier versions, which know no such field, read the rest. A file of theirs begins
 * with the first field of the message.
 *
 * <pre>
 * file     := [0x75 checksum:u32] state          little-endian
 * checksum := CRC32C of state
 * state    := 0x0a ...                           an ApplicationStateProto without the checksum
 * </pre>
 *
 * <p>Not thread-safe.
 */
final class StateFile {
  private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);
  private static final String TEMPORARY = ".tmp";
  private static final byte CHECKSUM_TAG =
      (byte) (ApplicationStateProto.CHECKSUM_FIELD_NUMBER << 3 | 5); // Four bytes follow.
  private static final int CHECKSUM_BYTES = 1 + Integer.BYTES;
  private static final byte STATE_TAG =
      (byte) (ApplicationStateProto.APPLICATION_ID_FIELD_NUMBER << 3 | 2); // A string follows.

  /** What to do about a damaged file. */
  static final String REMEDY =
      "restore it, or move it to another directory: the next attempt then begins as if nothing had"
          + " been saved. It finds the containers that run through YARN, keeps as many processes as"
          + " the application was submitted with, and starts them with what it was submitted with."
          + " Repeat 'stele yarn flex', 'upgrade' and 'stop' if you have changed that";

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
   * What an attempt has saved.
   *
   * @param age how long ago, by the clock of the file system alone; zero if it does not tell
   */
  record Saved(ApplicationStateProto state, Duration age) {}

  /** The same as {@link #read}, and waits for HDFS. */
  Optional<Saved> readWhenReachable(ProcessRuntime runtime)
      throws IOException, InterruptedException {
    return new HdfsWait(runtime, attempt).forReading("what the last attempt left", this::read);
  }

  /**
   * What the latest attempt before this one wrote; empty when none ever did.
   *
   * @throws CorruptionException if that is damaged; its message says what to do
   */
  Optional<Saved> read() throws IOException {
    Optional<Path> latest = latest(earlier(""));
    if (latest.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(new Saved(read(files, latest.get()), ageOf(latest.get())));
  }

  private Duration ageOf(Path file) {
    Path now = own().suffix(TEMPORARY);
    try {
      create(now).close();
      try {
        long millis = modifiedMillis(now) - modifiedMillis(file);
        return Duration.ofMillis(Math.max(0, millis));
      } finally {
        files.delete(now, false);
      }
    } catch (IOException e) { // It may take no writes.
      LOG.info("Cannot tell how old {} is: {}", file, e.toString());
      return Duration.ZERO;
    }
  }

  private long modifiedMillis(Path file) throws IOException {
    return files.getFileStatus(file).getModificationTime();
  }

  /** What the latest of all attempts wrote, for whoever asks; empty when none ever did. */
  static Optional<ApplicationStateProto> latest(Configuration conf, Path prefix)
      throws IOException {
    FileContext files = FileContext.getFileContext(prefix.toUri(), conf);
    Optional<Path> latest = latest(all(files, prefix, ""));
    return latest.isEmpty() ? Optional.empty() : Optional.of(read(files, latest.get()));
  }

  private static Optional<Path> latest(Map<ApplicationAttemptId, Path> among) {
    return among.entrySet().stream().max(Map.Entry.comparingByKey()).map(Map.Entry::getValue);
  }

  private static ApplicationStateProto read(FileContext files, Path file) throws IOException {
    byte[] bytes;
    try (FSDataInputStream in = files.open(file)) {
      bytes = in.readAllBytes();
    }
    try {
      return decode(bytes);
    } catch (InvalidProtocolBufferException e) {
      throw new CorruptionException(file.toString(), 0, e.getMessage() + "; " + REMEDY, e);
    }
  }

  private static byte[] encode(ApplicationStateProto state) {
    byte[] content = state.toByteArray();
    return ByteBuffer.allocate(CHECKSUM_BYTES + content.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(CHECKSUM_TAG)
        .putInt(checksum(content, 0))
        .put(content)
        .array();
  }

  private static ApplicationStateProto decode(byte[] bytes) throws InvalidProtocolBufferException {
    int begin = 0;
    if (bytes.length >= CHECKSUM_BYTES && bytes[0] == CHECKSUM_TAG) {
      begin = CHECKSUM_BYTES;
      int written = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(1);
      if (checksum(bytes, begin) != written) {
        throw new InvalidProtocolBufferException("its checksum does not match");
      }
    } else if (bytes.length == 0 || bytes[0] != STATE_TAG) {
      throw new InvalidProtocolBufferException("it does not begin as the state of an application");
    }
    return ApplicationStateProto.parser().parseFrom(bytes, begin, bytes.length - begin);
  }

  private static int checksum(byte[] bytes, int begin) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, begin, bytes.length - begin);
    return (int) checksum.getValue();
  }

  private Path own() {
    return prefix.suffix("." + attempt);
  }

  private FSDataOutputStream create(Path file) throws IOException {
    return files.create(
        file,
        EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE),
        Options.CreateOpts.createParent());
  }

  /** Writes this attempt's file; the first time it deletes those of earlier ones. */
  void write(ApplicationStateProto state) throws IOException {
    Path temporary = own().suffix(TEMPORARY);
    try (FSDataOutputStream out = create(temporary)) {
      out.write(encode(state));
      out.hsync();
    }
    files.rename(temporary, own(), Options.Rename.OVERWRITE);
    if (!earlierDeleted) {
      for (String ending : List.of("", TEMPORARY)) {
        for (Path file : earlier(ending).values()) {
          files.delete(file, false);
        }
      }
      earlierDeleted = true;
    }
  }

  /**
   * The files of earlier attempts, including those of earlier applications.
   *
   * @param ending of their names; empty, or {@link #TEMPORARY} for those that were not completed
   */
  private Map<ApplicationAttemptId, Path> earlier(String ending) throws IOException {
    Map<ApplicationAttemptId, Path> earlier = all(files, prefix, ending);
    earlier.keySet().removeIf(id -> id.compareTo(attempt) >= 0);
    return earlier;
  }

  private static Map<ApplicationAttemptId, Path> all(FileContext files, Path prefix, String ending)
      throws IOException {
    Map<ApplicationAttemptId, Path> found = new HashMap<>();
    String begin = prefix.getName() + ".";
    try {
      RemoteIterator<FileStatus> listed = files.listStatus(prefix.getParent());
      while (listed.hasNext()) {
        Path file = listed.next().getPath();
        String name = file.getName();
        if (name.startsWith(begin) && name.endsWith(TEMPORARY) == ending.equals(TEMPORARY)) {
          String id = name.substring(begin.length(), name.length() - ending.length());
          idOf(id).ifPresent(attempt -> found.put(attempt, file));
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
