package io.stele.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a table is: its name, its families and how its tablets are kept.
 *
 * @param name letters, digits, '_', '-' and '.'
 * @param families at least one, in order of name
 * @param codec how the blocks of new SSTables are compressed
 * @param blockBytes size of an SSTable's data blocks before compression, 1 KiB to 16 MiB
 * @param splitBytes a tablet whose SSTables are larger is split; at least 64 KiB
 * @param hsync whether a mutation is on disk at every replica, not only in memory, before it is
 *     acknowledged
 */
public record TableSchema(
    String name,
    List<ColumnFamily> families,
    Codec codec,
    int blockBytes,
    long splitBytes,
    boolean hsync) {
  /** Default size of data blocks. */
  public static final int BLOCK_BYTES = 64 << 10;

  /** Default size at which a tablet is split. */
  public static final long SPLIT_BYTES = 1L << 30;

  public TableSchema {
    if (!name.matches("[A-Za-z0-9_.-]{1,128}")) {
      throw SteleException.refused(
          "\""
              + Bytes.of(name)
              + "\" cannot name a table: a name is 1 to 128 letters, digits, '_', '-' and '.'");
    }
    families = families.stream().sorted((a, b) -> a.name().compareTo(b.name())).toList();
    if (families.isEmpty()) {
      throw SteleException.refused("table " + name + " has no family: give it at least one");
    }
    for (int i = 1; i < families.size(); i++) {
      if (families.get(i).name().equals(families.get(i - 1).name())) {
        throw SteleException.refused(
            "table " + name + " has the family " + families.get(i).name() + " twice");
      }
    }
    if (blockBytes < 1 << 10 || blockBytes > 16 << 20) {
      throw SteleException.refused(
          "block size of table " + name + " is 1 KiB to 16 MiB, not " + blockBytes + " bytes");
    }
    if (splitBytes < 64 << 10) {
      throw SteleException.refused(
          "split size of table " + name + " is at least 64 KiB, not " + splitBytes + " bytes");
    }
  }

  /** A table with these families, each keeping one version. */
  public static TableSchema of(String name, String... families) {
    List<ColumnFamily> list = new ArrayList<>();
    for (String family : families) {
      list.add(ColumnFamily.of(family));
    }
    return new TableSchema(name, list, Codec.SNAPPY, BLOCK_BYTES, SPLIT_BYTES, false);
  }

  /** The family of that name. */
  public Optional<ColumnFamily> family(String familyName) {
    return families.stream().filter(family -> family.name().equals(familyName)).findFirst();
  }

  /** With {@code family} added, or in place of the one of its name. */
  public TableSchema with(ColumnFamily family) {
    List<ColumnFamily> changed = new ArrayList<>(families);
    changed.removeIf(old -> old.name().equals(family.name()));
    changed.add(family);
    return new TableSchema(name, changed, codec, blockBytes, splitBytes, hsync);
  }

  /** Without the family of that name. */
  public TableSchema without(String familyName) {
    List<ColumnFamily> changed = new ArrayList<>(families);
    changed.removeIf(old -> old.name().equals(familyName));
    return new TableSchema(name, changed, codec, blockBytes, splitBytes, hsync);
  }

  /** With blocks compressed by {@code newCodec}. */
  public TableSchema withCodec(Codec newCodec) {
    return new TableSchema(name, families, newCodec, blockBytes, splitBytes, hsync);
  }

  /** With blocks of {@code bytes}. */
  public TableSchema withBlockBytes(int bytes) {
    return new TableSchema(name, families, codec, bytes, splitBytes, hsync);
  }

  /** With tablets split above {@code bytes}. */
  public TableSchema withSplitBytes(long bytes) {
    return new TableSchema(name, families, codec, blockBytes, bytes, hsync);
  }

  /** With mutations on disk, not only in memory, before they are acknowledged. */
  public TableSchema withHsync(boolean on) {
    return new TableSchema(name, families, codec, blockBytes, splitBytes, on);
  }
}
