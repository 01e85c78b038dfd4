package io.stele.files;

import io.stele.model.Principal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclEntryScope;
import org.apache.hadoop.fs.permission.AclEntryType;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Access control lists of files and directories: who may use them beside their owner. Only the
 * owner can change them.
 *
 * <p>A directory has two lists: one for itself, and the default one, which is that of files and
 * directories made in it later. The umask of whoever makes them takes nothing away then, as HDFS
 * applies it only where a directory has no default list ({@code
 * dfs.namenode.posix.acl.inheritance.enabled}, on by default).
 *
 * <p>Safe for use by any number of threads.
 */
public final class AccessLists {
  private static final Logger LOG = LoggerFactory.getLogger(AccessLists.class);

  /** By its name: programs without HDFS do not have the class. */
  private static final String REJECTED = "org.apache.hadoop.hdfs.protocol.AclException";

  private final FileSystem fs;
  private volatile boolean kept; // Once they are, they stay so.

  /** The lists in {@code fs}. */
  public AccessLists(FileSystem fs) {
    this.fs = fs;
  }

  /**
   * Whether the file system keeps access control lists. HDFS does, unless {@code
   * dfs.namenode.acls.enabled} is false; local file systems do not.
   *
   * @param path something that exists
   */
  public boolean areKept(Path path) throws IOException {
    if (!kept) {
      kept = isAnswered(path);
    }
    return kept;
  }

  private boolean isAnswered(Path path) throws IOException {
    try {
      return fs.getAclStatus(path) != null;
    } catch (UnsupportedOperationException e) {
      LOG.trace("{} has no access control lists", fs.getUri(), e);
      return false;
    } catch (IOException e) {
      if (e.getClass().getName().equals(REJECTED)) {
        LOG.debug("{} keeps no access control lists", fs.getUri(), e);
        return false;
      }
      throw e;
    }
  }

  /**
   * Lets {@code readers}, and nobody else but the owner, read a directory and what is made in it
   * from now on. Without readers, gives the directory the usual permissions.
   */
  public void letReadDirectory(Path directory, List<Principal> readers) throws IOException {
    if (readers.isEmpty()) {
      makeUsual(directory, FsPermission.getDirDefault());
      return;
    }
    Map<Principal, FsAction> named = readers(readers);
    List<AclEntry> entries = new ArrayList<>();
    addAll(entries, AclEntryScope.ACCESS, named, FsPermission.valueOf("-rwx------"));
    addAll(entries, AclEntryScope.DEFAULT, named, FsPermission.valueOf("-rwx------"));
    fs.setAcl(directory, entries);
  }

  /** As {@link #letReadDirectory}, for a file. */
  public void letReadFile(Path file, List<Principal> readers) throws IOException {
    if (readers.isEmpty()) {
      makeUsual(file, FsPermission.getFileDefault());
      return;
    }
    Map<Principal, FsAction> named = new TreeMap<>();
    readers.forEach(reader -> named.put(reader, FsAction.READ));
    List<AclEntry> entries = new ArrayList<>();
    addAll(entries, AclEntryScope.ACCESS, named, FsPermission.valueOf("-rw-------"));
    fs.setAcl(file, entries);
  }

  private static Map<Principal, FsAction> readers(List<Principal> readers) {
    Map<Principal, FsAction> named = new TreeMap<>();
    readers.forEach(reader -> named.put(reader, FsAction.READ_EXECUTE));
    return named;
  }

  private void makeUsual(Path path, FsPermission all) throws IOException {
    fs.removeAcl(path);
    fs.setPermission(path, all.applyUMask(FsPermission.getUMask(fs.getConf())));
  }

  /**
   * Lets a user make files in a directory, which its owner can read and delete. Of others, {@code
   * readers} can read the files; or, if {@code isUsual}, whoever the usual permissions let.
   */
  public void letWrite(Path directory, String user, List<Principal> readers, boolean isUsual)
      throws IOException {
    Principal owner = Principal.user(fs.getFileStatus(directory).getOwner());
    Principal writer = Principal.user(user);
    if (writer.equals(owner) && isUsual) {
      return;
    }
    Map<Principal, FsAction> named = readers(readers);
    named.put(writer, FsAction.ALL);
    FsPermission others =
        isUsual
            ? FsPermission.getDirDefault().applyUMask(FsPermission.getUMask(fs.getConf()))
            : FsPermission.valueOf("-rwx------");
    List<AclEntry> entries = new ArrayList<>();
    addAll(entries, AclEntryScope.ACCESS, named, others);
    named.put(owner, FsAction.ALL);
    addAll(entries, AclEntryScope.DEFAULT, named, others);
    fs.setAcl(directory, entries);
  }

  /** The user, beside the owner, who may make files in a directory. */
  public Optional<String> writer(Path directory) throws IOException {
    return fs.getAclStatus(directory).getEntries().stream()
        .filter(AccessLists::isWriter)
        .map(AclEntry::getName)
        .findFirst();
  }

  private static boolean isWriter(AclEntry entry) {
    return entry.getScope() == AclEntryScope.ACCESS
        && entry.getType() == AclEntryType.USER
        && entry.getName() != null
        && entry.getPermission().implies(FsAction.WRITE);
  }

  /** Lets nobody but the owner make, rename or delete files in a directory any more. */
  public void endWriting(Path directory) throws IOException {
    AclStatus now = fs.getAclStatus(directory);
    List<AclEntry> readers = new ArrayList<>();
    for (AclEntry entry : now.getEntries()) {
      if (isWriter(entry)) {
        Principal user = Principal.user(Objects.requireNonNull(entry.getName()));
        readers.add(entry(AclEntryScope.ACCESS, user, FsAction.READ_EXECUTE));
      }
    }
    if (!readers.isEmpty()) {
      fs.modifyAclEntries(directory, readers);
    }
  }

  private static void addAll(
      List<AclEntry> entries,
      AclEntryScope scope,
      Map<Principal, FsAction> named,
      FsPermission others) {
    entries.add(entry(scope, AclEntryType.USER, others.getUserAction()));
    entries.add(entry(scope, AclEntryType.GROUP, others.getGroupAction()));
    entries.add(entry(scope, AclEntryType.OTHER, others.getOtherAction()));
    named.forEach((principal, action) -> entries.add(entry(scope, principal, action)));
  }

  private static AclEntry entry(AclEntryScope scope, AclEntryType type, FsAction action) {
    return new AclEntry.Builder().setScope(scope).setType(type).setPermission(action).build();
  }

  private static AclEntry entry(AclEntryScope scope, Principal principal, FsAction action) {
    return new AclEntry.Builder()
        .setScope(scope)
        .setType(
            switch (principal.kind()) {
              case USER -> AclEntryType.USER;
              case GROUP -> AclEntryType.GROUP;
            })
        .setName(principal.name())
        .setPermission(action)
        .build();
  }
}
