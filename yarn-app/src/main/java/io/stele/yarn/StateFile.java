package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;

/**
 * The state that one attempt of the ApplicationMaster leaves for the next, in one small file. The
 * file is replaced as a whole: a reader sees the old or the new one.
 *
 * <p>Not thread-safe.
 */
final class StateFile {
  private final FileContext files;
  private final Path path;
  private final Path temporary;

  /**
   * @param path the file
   * @param writer tells this attempt's temporary file from others'
   */
  StateFile(Configuration conf, Path path, String writer) throws IOException {
    this.files = FileContext.getFileContext(path.toUri(), conf);
    this.path = path;
    this.temporary = path.suffix("." + writer);
  }

  /** What was last written; empty when nothing ever was. */
  Optional<ApplicationStateProto> read() throws IOException {
    try (FSDataInputStream in = files.open(path)) {
      return Optional.of(ApplicationStateProto.parseFrom(in));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
  }

  void write(ApplicationStateProto state) throws IOException {
    try (FSDataOutputStream out =
        files.create(
            temporary,
            EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE),
            Options.CreateOpts.createParent())) {
      state.writeTo(out);
      out.hsync();
    }
    files.rename(temporary, path, Options.Rename.OVERWRITE);
  }
}
