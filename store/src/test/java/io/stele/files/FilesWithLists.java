package io.stele.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.security.AccessControlException;

/**
 * A file system that keeps access control lists once it is told to, and applies none. All files are
 * those of one owner.
 */
public final class FilesWithLists extends FilterFileSystem {
  /** Who owns all files. */
  public static final String OWNER = "store";

  private final Map<String, List<AclEntry>> lists = new TreeMap<>();
  private final Set<String> foreign = new TreeSet<>();
  private boolean kept;
  private Runnable beforeNext = () -> {};

  public FilesWithLists(FileSystem fs) {
    super(fs);
  }

  /** From now on lists are kept. */
  public void keepLists() {
    kept = true;
  }

  /** A file is another user's: its list cannot be changed, nor can it be deleted. */
  public void makeForeign(Path file) {
    foreign.add(file.toUri().getPath());
  }

  /** Something that happens once, right before the next list is set. */
  public void beforeNextList(Runnable event) {
    beforeNext = event;
  }

  /** The entries of a path that name somebody, such as {@code default:user:alice:r-x}. */
  public List<String> named(Path path) {
    return lists.getOrDefault(path.toUri().getPath(), List.of()).stream()
        .filter(entry -> entry.getName() != null)
        .map(AclEntry::toString)
        .sorted()
        .toList();
  }

  /** All entries of a path. */
  public List<String> entries(Path path) {
    return lists.getOrDefault(path.toUri().getPath(), List.of()).stream()
        .map(AclEntry::toString)
        .sorted()
        .toList();
  }

  private String changed(Path path) throws IOException {
    Runnable event = beforeNext;
    beforeNext = () -> {};
    event.run();
    if (!kept) {
      throw new UnsupportedOperationException();
    }
    if (!exists(path)) {
      throw new FileNotFoundException(path.toString());
    }
    if (foreign.contains(path.toUri().getPath())) {
      throw new AccessControlException(path + " is another user's");
    }
    return path.toUri().getPath();
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    FileStatus status = super.getFileStatus(path);
    return new FileStatus(
        status.getLen(),
        status.isDirectory(),
        status.getReplication(),
        status.getBlockSize(),
        status.getModificationTime(),
        status.getAccessTime(),
        status.getPermission(),
        OWNER,
        OWNER,
        status.getPath());
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    if (foreign.contains(path.toUri().getPath())) {
      throw new AccessControlException(path + " is another user's");
    }
    return super.delete(path, recursive);
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    lists.put(changed(path), List.copyOf(entries));
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    lists.remove(changed(path));
  }

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    List<AclEntry> all = new ArrayList<>(lists.getOrDefault(changed(path), List.of()));
    for (AclEntry entry : entries) {
      all.removeIf(
          old ->
              old.getScope() == entry.getScope()
                  && old.getType() == entry.getType()
                  && String.valueOf(old.getName()).equals(entry.getName()));
      all.add(entry);
    }
    lists.put(path.toUri().getPath(), all);
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    if (!kept) {
      throw new UnsupportedOperationException();
    }
    return new AclStatus.Builder()
        .owner(getFileStatus(path).getOwner())
        .addEntries(lists.getOrDefault(path.toUri().getPath(), List.of()))
        .build();
  }
}
