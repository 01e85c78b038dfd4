package io.stele.metadata;

import io.stele.lock.LockService;
import io.stele.metadata.avro.BloomValue;
import io.stele.metadata.avro.CachePriorityValue;
import io.stele.metadata.avro.FamilyValue;
import io.stele.metadata.avro.GcKindValue;
import io.stele.metadata.avro.GcValue;
import io.stele.metadata.avro.GroupValue;
import io.stele.metadata.avro.LoweredCountValue;
import io.stele.metadata.avro.TableStateValue;
import io.stele.metadata.avro.TableValue;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.GcPolicy;
import io.stele.model.Limits;
import io.stele.model.LocalityGroup;
import io.stele.model.NewerFormatException;
import io.stele.model.Principal;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.LoweredCounts;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Table schemas as Avro records: in the lock service and on the control plane. */
public final class TableCodec {
  /** The most items of lists in a table's schema: families, parts of policies, groups, readers. */
  private static final int SCHEMA_ITEMS_MAX =
      Limits.FAMILIES_MAX * (1 + Limits.POLICY_PARTS_MAX) + Limits.GROUPS_MAX + Limits.READERS_MAX;

  private TableCodec() {}

  /** The bytes for {@code schema} on the control plane. */
  public static Bytes encode(TableSchema schema) {
    return encode(
        new StoredTable(
            TableId.METADATA,
            schema,
            StoredTable.State.READY,
            DroppedFamilies.NONE,
            LoweredCounts.NONE,
            List.of(),
            Set.of(),
            0),
        "");
  }

  /**
   * Reads what {@link #encode(TableSchema)} wrote; the bytes may come from anybody.
   *
   * @throws SteleException REFUSED if it breaks a rule for schemas
   * @throws NewerFormatException if it has what this version does not know
   * @throws CorruptionException if it is no schema, or larger than one may be
   */
  public static TableSchema decode(Bytes bytes) throws CorruptionException {
    String where = "a table's schema";
    if (bytes.length() > LockService.DATA_BYTES_MAX) {
      throw new CorruptionException(
          where,
          0,
          "it has "
              + bytes.length()
              + " bytes: ZooKeeper holds at most "
              + LockService.DATA_BYTES_MAX);
    }
    TableValue value =
        Avro.decode(bytes, TableValue.class, where, SCHEMA_ITEMS_MAX, whole -> whole);
    try {
      return schema(value);
    } catch (IllegalArgumentException | ArithmeticException e) { // Of a time that is too long.
      throw new NewerFormatException(where, "what is not understood (" + e.getMessage() + ")", e);
    }
  }

  /**
   * The same of bytes that Stele has stored.
   *
   * @param where they are, for messages
   */
  static TableSchema decodeStored(Bytes bytes, String where) throws CorruptionException {
    return Avro.decode(bytes, TableValue.class, where, TableCodec::schema);
  }

  /** The bytes of {@code table}'s node, whose id and version are not among them. */
  static Bytes encode(StoredTable table, String change) {
    TableSchema schema = table.schema();
    return Avro.encode(
        TableValue.newBuilder()
            .setState(TableStateValue.valueOf(table.state().name()))
            .setName(schema.name())
            .setFamilies(
                schema.families().stream()
                    .map(
                        family ->
                            FamilyValue.newBuilder()
                                .setName(family.name())
                                .setGc(encode(family.gc()))
                                .setGroup(family.group())
                                .build())
                    .toList())
            .setGroups(schema.groups().stream().map(TableCodec::encode).toList())
            .setSplitBytes(schema.splitBytes())
            .setHsync(schema.hsync())
            .setDroppedFamilies(List.copyOf(table.dropped().names()))
            .setDroppedByJob(encode(table.dropped().byJob()))
            .setLoweredCounts(Avro.lists(table.lowered().byFamily(), TableCodec::encode))
            .setSplitRows(table.splitRows().stream().map(Avro::buffer).toList())
            .setChange(change)
            .setReaders(schema.readers().stream().map(Principal::toString).toList())
            .build());
  }

  static StoredTable decode(TableId id, Bytes bytes, int version) throws CorruptionException {
    return Avro.decode(
        bytes,
        TableValue.class,
        "schema of table " + id + " in ZooKeeper",
        value ->
            new StoredTable(
                id,
                schema(value),
                StoredTable.State.valueOf(value.getState().name()),
                dropped(value),
                new LoweredCounts(Avro.lists(value.getLoweredCounts(), TableCodec::decode)),
                value.getSplitRows().stream().map(Avro::bytes).toList(),
                Set.copyOf(value.getRequires()),
                version));
  }

  private static Map<String, List<String>> encode(Map<String, Set<String>> byJob) {
    Map<String, List<String>> to = new TreeMap<>();
    byJob.forEach((job, families) -> to.put(job, families.stream().sorted().toList()));
    return to;
  }

  private static DroppedFamilies dropped(TableValue from) {
    Map<String, Set<String>> byJob = new TreeMap<>();
    from.getDroppedByJob().forEach((job, families) -> byJob.put(job, Set.copyOf(families)));
    return new DroppedFamilies(Set.copyOf(from.getDroppedFamilies()), byJob);
  }

  private static LoweredCountValue encode(LoweredCounts.Lowered one) {
    return LoweredCountValue.newBuilder()
        .setVersions(one.versions())
        .setAlteration(one.alteration())
        .build();
  }

  private static LoweredCounts.Lowered decode(LoweredCountValue one) {
    return new LoweredCounts.Lowered(one.getVersions(), one.getAlteration());
  }

  private static TableSchema schema(TableValue value) {
    return new TableSchema(
        value.getName(),
        value.getFamilies().stream()
            .map(
                family ->
                    new ColumnFamily(family.getName(), decode(family.getGc()), family.getGroup()))
            .toList(),
        value.getGroups().stream().map(TableCodec::decode).toList(),
        value.getSplitBytes(),
        value.getHsync(),
        value.getReaders().stream().map(Principal::parse).toList());
  }

  private static GroupValue encode(LocalityGroup group) {
    return GroupValue.newBuilder()
        .setName(group.name())
        .setCodec(group.codec().name())
        .setBlockBytes(group.blockBytes())
        .setBloom(BloomValue.valueOf(group.bloom().name()))
        .setInMemory(group.inMemory())
        .setCachePriority(CachePriorityValue.valueOf(group.cachePriority().name()))
        .build();
  }

  private static LocalityGroup decode(GroupValue from) {
    return new LocalityGroup(
        from.getName(),
        Codec.valueOf(from.getCodec()),
        from.getBlockBytes(),
        Bloom.valueOf(from.getBloom().name()),
        from.getInMemory(),
        CachePriority.valueOf(from.getCachePriority().name()));
  }

  private static GcValue encode(GcPolicy policy) {
    GcValue.Builder to = GcValue.newBuilder();
    switch (policy.kind()) {
      case KEEP_ALL -> to.setKind(GcKindValue.KEEP_ALL);
      case MAX_VERSIONS ->
          to.setKind(GcKindValue.MAX_VERSIONS).setVersions(((GcPolicy.MaxVersions) policy).count());
      case MAX_AGE -> {
        Duration age = ((GcPolicy.MaxAge) policy).age();
        to.setKind(GcKindValue.MAX_AGE).setAgeSeconds(age.getSeconds()).setAgeNanos(age.getNano());
      }
      case UNION ->
          to.setKind(GcKindValue.UNION).setPolicies(encode(((GcPolicy.Union) policy).policies()));
      case INTERSECTION ->
          to.setKind(GcKindValue.INTERSECTION)
              .setPolicies(encode(((GcPolicy.Intersection) policy).policies()));
    }
    return to.build();
  }

  private static List<GcValue> encode(List<GcPolicy> policies) {
    return policies.stream().map(TableCodec::encode).toList();
  }

  private static GcPolicy decode(GcValue from) {
    return switch (from.getKind()) {
      case KEEP_ALL -> new GcPolicy.KeepAll();
      case MAX_VERSIONS -> new GcPolicy.MaxVersions(from.getVersions());
      case MAX_AGE ->
          new GcPolicy.MaxAge(Duration.ofSeconds(from.getAgeSeconds(), from.getAgeNanos()));
      case UNION ->
          new GcPolicy.Union(from.getPolicies().stream().map(TableCodec::decode).toList());
      case INTERSECTION ->
          new GcPolicy.Intersection(from.getPolicies().stream().map(TableCodec::decode).toList());
    };
  }
}
