package io.stele.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.Test;

class WriteLeasesTest {
  private static final Path DIRECTORY = new Path("crash:/logs");

  @Test
  void aWriterBehindAFilterLosesItsFile() throws IOException {
    CrashableFileSystem fs = CrashableFileSystem.create();
    fs.mkdirs(DIRECTORY);
    FSDataOutputStream out = fs.create(new Path(DIRECTORY, "a"));
    out.write(1);
    out.hflush();
    FileSystem other = new FilterFileSystem(new FilterFileSystem(fs.disk().mount()));
    WriteLeases leases = WriteLeases.in(other, DIRECTORY);
    assertThat(leases.isClosed("a")).isFalse();
    leases.recover("a");
    assertThat(leases.isClosed("a")).isTrue();
    assertThatThrownBy(
            () -> {
              out.write(2);
              out.hflush();
            })
        .isInstanceOf(IOException.class);
  }

  @Test
  void theLocalFileSystemHasNoLeases() throws IOException {
    FileSystem local = FileSystem.getLocal(new Configuration(false));
    WriteLeases leases = WriteLeases.in(local, new Path("file:///"));
    assertThat(leases.isClosed("any")).isTrue();
    assertThat(leases.recover("any")).isTrue();
  }

  @Test
  void aFileSystemOfManyMachinesWithoutLeasesIsRefused() {
    assertThatThrownBy(() -> WriteLeases.in(new Objects(), new Path("objects:/stele")))
        .isInstanceOf(NotDurableException.class)
        .hasMessageContaining("objects:/stele")
        .hasMessageContaining("stele.root.dir");
  }

  /** An object store: it has files, and neither appends nor leases. */
  private static final class Objects extends FileSystem {
    @Override
    public URI getUri() {
      return URI.create("objects:///");
    }

    @Override
    public Path resolvePath(Path path) {
      return path;
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FSDataOutputStream create(
        Path path,
        FsPermission permission,
        boolean overwrite,
        int bufferSize,
        short replication,
        long blockSize,
        Progressable progress) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean rename(Path from, Path to) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean delete(Path path, boolean recursive) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileStatus[] listStatus(Path path) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setWorkingDirectory(Path directory) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Path getWorkingDirectory() {
      return new Path("objects:/");
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileStatus getFileStatus(Path path) {
      throw new UnsupportedOperationException();
    }
  }
}
