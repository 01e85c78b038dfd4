package io.stele.files;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Files of this machine. Without its native library, Hadoop's own class starts a process for each
 * file that it creates or renames, {@code chmod} or {@code readlink}; this one starts none. It
 * follows symbolic links and does not tell of them. Safe for use by any number of threads.
 */
public final class LocalFilesInProcess extends RawLocalFileSystem {
  /** It, for whoever is given {@code conf} and asks for a {@code FileContext}. */
  public static void useIn(Configuration conf) {
    conf.set("fs.AbstractFileSystem.file.impl", ForFileContext.class.getName());
  }

  /** It alone. */
  public static RawLocalFileSystem raw() throws IOException {
    RawLocalFileSystem raw = new LocalFilesInProcess();
    raw.initialize(FsConstants.LOCAL_FS_URI, new Configuration(false));
    return raw;
  }

  /** It, with checksums. */
  public static LocalFileSystem withChecksums() throws IOException {
    LocalFileSystem local = new LocalFileSystem(raw());
    local.initialize(FsConstants.LOCAL_FS_URI, new Configuration(false));
    return local;
  }

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    Files.setPosixFilePermissions(
        pathToFile(path).toPath(),
        PosixFilePermissions.fromString(
            permission.getUserAction().SYMBOL
                + permission.getGroupAction().SYMBOL
                + permission.getOtherAction().SYMBOL));
  }

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    return getFileStatus(path);
  }

  /** Made by Hadoop. */
  public static final class ForFileContext extends DelegateToFileSystem {
    public ForFileContext(URI uri, Configuration conf) throws IOException, URISyntaxException {
      super(uri, new LocalFilesInProcess(), conf, FsConstants.LOCAL_FS_URI.getScheme(), false);
    }

    @Override
    public int getUriDefaultPort() {
      return -1; // Files of this machine have none.
    }
  }
}
