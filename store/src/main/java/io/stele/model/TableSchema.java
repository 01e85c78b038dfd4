package io.stele.model;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The schema of a table: its name, its families, and how its tablets are stored.
 *
 * @param name letters, digits, '_', '-' and '.'
 * @param families at least one, in order of name
 * @param groups the locality groups, in order of name: those given, and the default group as {@link
 *     LocalityGroup#of} makes it, if a family needs it and it was not given
 * @param splitBytes a tablet whose SSTables are larger is split; at least 4 KiB
 * @param hsync whether a mutation is on disk at every replica, not only in memory, before it is
 *     acknowledged
 * @param readers who may read the table's files, beside the user who runs the store, in order; none
 *     named: whoever the file system lets, by the usual permissions of new files
 */
public record TableSchema(
    String name,
    List<ColumnFamily> families,
    List<LocalityGroup> groups,
    long splitBytes,
    boolean hsync,
    List<Principal> readers) {
  /** Default size at which a tablet is split. */
  public static final long SPLIT_BYTES = 1L << 30;

  public TableSchema {
    Limits.checkTableName(name);
    families = families.stream().sorted(Comparator.comparing(ColumnFamily::name)).toList();
    if (families.isEmpty()) {
      throw SteleException.refused("table " + name + " has no family: give it at least one");
    }
    groups = sorted(withDefault(groups, families));
    Limits.checkCount(name, "families", families.size(), Limits.FAMILIES_MAX);
    Limits.checkCount(name, "locality groups", groups.size(), Limits.GROUPS_MAX);
    checkNoneTwice(name, "family", families.stream().map(ColumnFamily::name).toList());
    checkNoneTwice(name, "locality group", groups.stream().map(LocalityGroup::name).toList());
    for (ColumnFamily family : families) {
      if (groups.stream().noneMatch(group -> group.name().equals(family.group()))) {
        throw SteleException.refused(
            "family "
                + family.name()
                + " of table "
                + name
                + " is in locality group "
                + family.group()
                + ", which the table does not have");
      }
    }
    if (splitBytes < 4 << 10) {
      throw SteleException.refused(
          "the split size of table "
              + name
              + " must be at least 4 KiB, not "
              + splitBytes
              + " bytes");
    }
    readers = readers.stream().distinct().sorted().toList();
    Limits.checkCount(name, "readers", readers.size(), Limits.READERS_MAX);
  }

  /** A table with these families, each keeping one version, in one locality group. */
  public static TableSchema of(String name, String... families) {
    return of(name, Stream.of(families).map(ColumnFamily::of).toList());
  }

  /** A table with these families, and these locality groups beside the default one. */
  public static TableSchema of(String name, List<ColumnFamily> families, LocalityGroup... groups) {
    return new TableSchema(name, families, List.of(groups), SPLIT_BYTES, false, List.of());
  }

  /** The family of that name. */
  public Optional<ColumnFamily> family(String familyName) {
    return families.stream().filter(family -> family.name().equals(familyName)).findFirst();
  }

  /**
   * The family of that name.
   *
   * @throws SteleException NOT_FOUND if the table does not have it
   */
  public ColumnFamily requireFamily(String familyName) {
    return family(familyName)
        .orElseThrow(
            () ->
                SteleException.notFound(
                    "table "
                        + name
                        + " has no family \""
                        + Bytes.of(familyName)
                        + "\": it has "
                        + families.stream().map(ColumnFamily::name).collect(joining(", "))));
  }

  /** The locality group of that name. */
  public Optional<LocalityGroup> group(String groupName) {
    return groups.stream().filter(group -> group.name().equals(groupName)).findFirst();
  }

  /** With {@code family} added, or in place of the one of its name. */
  public TableSchema with(ColumnFamily family) {
    return new TableSchema(
        name, replace(families, family, ColumnFamily::name), groups, splitBytes, hsync, readers);
  }

  /** With the locality group {@code group} added, or in place of the one of its name. */
  public TableSchema with(LocalityGroup group) {
    return new TableSchema(
        name, families, replace(groups, group, LocalityGroup::name), splitBytes, hsync, readers);
  }

  /**
   * Without the family of that name.
   *
   * @throws SteleException NOT_FOUND if there is none
   */
  public TableSchema without(String familyName) {
    requireFamily(familyName);
    List<ColumnFamily> changed = new ArrayList<>(families);
    changed.removeIf(old -> old.name().equals(familyName));
    return new TableSchema(name, changed, groups, splitBytes, hsync, readers);
  }

  /** With the blocks of all locality groups compressed by {@code codec}. */
  public TableSchema withCodec(Codec codec) {
    return withGroups(group -> group.withCodec(codec));
  }

  /** With blocks of {@code bytes} in all locality groups. */
  public TableSchema withBlockBytes(int bytes) {
    return withGroups(group -> group.withBlockBytes(bytes));
  }

  /** With tablets split above {@code bytes}. */
  public TableSchema withSplitBytes(long bytes) {
    return new TableSchema(name, families, groups, bytes, hsync, readers);
  }

  /** With mutations on disk, not only in memory, before they are acknowledged. */
  public TableSchema withHsync(boolean on) {
    return new TableSchema(name, families, groups, splitBytes, on, readers);
  }

  /**
   * With these in place of the readers it has, such as {@code user:alice} and {@code
   * group:analysts}.
   *
   * @throws SteleException REFUSED if one is neither user:NAME nor group:NAME
   */
  public TableSchema withReaders(String... principals) {
    return withReaders(Stream.of(principals).map(Principal::parse).toList());
  }

  /** With these in place of the readers it has. */
  public TableSchema withReaders(List<Principal> principals) {
    return new TableSchema(name, families, groups, splitBytes, hsync, principals);
  }

  private TableSchema withGroups(UnaryOperator<LocalityGroup> change) {
    return new TableSchema(
        name, families, groups.stream().map(change).toList(), splitBytes, hsync, readers);
  }

  private static List<LocalityGroup> withDefault(
      List<LocalityGroup> given, List<ColumnFamily> families) {
    boolean used =
        families.stream().anyMatch(family -> family.group().equals(LocalityGroup.DEFAULT_NAME));
    boolean there =
        given.stream().anyMatch(group -> group.name().equals(LocalityGroup.DEFAULT_NAME));
    List<LocalityGroup> all = new ArrayList<>(given);
    if (used && !there) {
      all.add(LocalityGroup.of(LocalityGroup.DEFAULT_NAME));
    }
    return all;
  }

  private static List<LocalityGroup> sorted(List<LocalityGroup> groups) {
    return groups.stream().sorted(Comparator.comparing(LocalityGroup::name)).toList();
  }

  private static <T> List<T> replace(List<T> all, T by, Function<T, String> nameOf) {
    List<T> changed = new ArrayList<>(all);
    changed.removeIf(old -> nameOf.apply(old).equals(nameOf.apply(by)));
    changed.add(by);
    return changed;
  }

  private static void checkNoneTwice(String table, String what, List<String> names) {
    Set<String> seen = new HashSet<>();
    for (String one : names) {
      if (!seen.add(one)) {
        throw SteleException.refused(
            "table " + table + " has the " + what + " " + one + " twice: remove one");
      }
    }
  }
}
