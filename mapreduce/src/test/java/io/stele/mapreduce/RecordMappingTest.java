package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.reflect.AvroAlias;
import org.apache.avro.reflect.AvroDefault;
import org.apache.avro.reflect.AvroMeta;
import org.apache.avro.reflect.AvroName;
import org.apache.avro.reflect.Nullable;
import org.junit.jupiter.api.Test;

class RecordMappingTest {
  /** A record of all types that cells can have. */
  private static final String EVERYTHING =
      """
      {"type": "record", "name": "Page", "namespace": "web", "stele": "page", "fields": [
        {"name": "url", "type": "string", "stele": "ROW"},
        {"name": "title", "type": ["null", "string"]},
        {"name": "image", "type": "bytes", "stele": "image:"},
        {"name": "digest", "type": {"type": "fixed", "name": "Digest", "size": 2}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["HTML", "TEXT"]}},
        {"name": "links", "type": "int"},
        {"name": "visits", "type": "long", "stele": "stats:visits"},
        {"name": "rank", "type": "float"},
        {"name": "score", "type": "double"},
        {"name": "spam", "type": "boolean"},
        {"name": "memo", "type": "string", "default": "none", "stele": "-"},
        {"name": "anchors", "type": {"type": "map", "values": "string"}, "stele": "anchor:*"}]}
      """;

  private static Schema schema(String json) {
    return new Schema.Parser().parse(json);
  }

  private static Schema person(String fields) {
    return schema(
        "{\"type\": \"record\", \"name\": \"Person\", \"stele\": \"p\", \"fields\": ["
            + "{\"name\": \"id\", \"type\": \"string\", \"stele\": \"ROW\"}, "
            + fields
            + "]}");
  }

  private static GenericRecord page() {
    Schema schema = schema(EVERYTHING);
    GenericRecord page = new GenericData.Record(schema);
    page.put("url", "com.example/");
    page.put("image", ByteBuffer.wrap(new byte[] {0, -1}));
    Schema digest = schema.getField("digest").schema();
    page.put("digest", new GenericData.Fixed(digest, new byte[] {7, 8}));
    page.put("kind", new GenericData.EnumSymbol(schema.getField("kind").schema(), "TEXT"));
    page.put("links", -2);
    page.put("visits", 258L);
    page.put("rank", 1.5f);
    page.put("score", -0.25);
    page.put("spam", true);
    page.put("memo", "none");
    page.put("anchors", Map.of("com.other/", "see"));
    return page;
  }

  /** What the puts of a mutation leave in an empty row. */
  private static Row row(Mutation mutation) {
    List<Cell> cells = new ArrayList<>();
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put) {
        cells.add(new Cell(put.family(), put.qualifier(), 1, put.value()));
      }
    }
    return new Row(mutation.row(), cells);
  }

  private static Bytes bytes(int... bytes) {
    byte[] all = new byte[bytes.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) bytes[i];
    }
    return Bytes.of(all);
  }

  /** Golden: others read these bytes, and those of years ago are to be read. */
  @Test
  void theBytesOfCellsAreThese() {
    Mutation mutation = RecordMapping.of(schema(EVERYTHING)).mutation(page());
    assertThat(mutation)
        .isEqualTo(
            Mutation.of("com.example/")
                .deleteColumn("page", "title")
                .put("image", Bytes.EMPTY, bytes(0, 255))
                .put("page", Bytes.of("digest"), bytes(7, 8))
                .put("page", Bytes.of("kind"), Bytes.of("TEXT"))
                .put("page", Bytes.of("links"), bytes(255, 255, 255, 255, 255, 255, 255, 254))
                .put("stats", Bytes.of("visits"), bytes(0, 0, 0, 0, 0, 0, 1, 2))
                .put("page", Bytes.of("rank"), bytes(0x3f, 0xf8, 0, 0, 0, 0, 0, 0))
                .put("page", Bytes.of("score"), bytes(0xbf, 0xd0, 0, 0, 0, 0, 0, 0))
                .put("page", Bytes.of("spam"), bytes(1))
                .deleteFamily("anchor")
                .put("anchor", Bytes.of("com.other/"), Bytes.of("see")));
  }

  @Test
  void aRecordComesBackAsItWas() {
    RecordMapping<GenericRecord> mapping = RecordMapping.of(schema(EVERYTHING));
    assertThat(mapping.record(row(mapping.mutation(page())))).isEqualTo(page());
    assertThat(mapping.query().families()).containsExactly("anchor");
    assertThat(mapping.query().columns())
        .contains(Column.of("page", "title"), Column.of("stats", "visits"))
        .hasSize(9);
  }

  /** A class without Avro's compiler. */
  @AvroMeta(key = "stele", value = "person")
  static final class Person {
    @AvroMeta(key = "stele", value = "ROW")
    private String email = "";

    @AvroAlias(alias = "fullName")
    private String name = "";

    @Nullable private Long visits;

    @AvroDefault("\"en\"")
    private String language = "";

    private byte[] picture = new byte[0];

    @AvroMeta(key = "stele", value = "likes:*")
    private Map<String, Double> likes = Map.of();
  }

  @Test
  void aClassIsMappedByItsAnnotations() {
    RecordMapping<Person> mapping = RecordMapping.of(Person.class);
    Person ada = new Person();
    ada.email = "ada@example.com";
    ada.name = "Ada";
    ada.visits = 3L;
    ada.language = "fr";
    ada.picture = new byte[] {1, 2};
    ada.likes = Map.of("tea", 0.5);
    Person again = mapping.record(row(mapping.mutation(ada)));
    assertThat(again).usingRecursiveComparison().isEqualTo(ada);

    Row old =
        new Row(
            Bytes.of("alan@example.com"),
            List.of(
                new Cell("person", Bytes.of("fullName"), 1, Bytes.of("Alan")),
                new Cell("person", Bytes.of("picture"), 1, Bytes.EMPTY)));
    Person alan = mapping.record(old);
    assertThat(alan.name).isEqualTo("Alan");
    assertThat(alan.visits).isNull();
    assertThat(alan.language).isEqualTo("en");
    assertThat(alan.likes).isEmpty();
  }

  /** Has a key; its subclasses have a field of a type that is not read. */
  @AvroMeta(key = "stele", value = "p")
  abstract static class Keyed {
    @AvroMeta(key = "stele", value = "ROW")
    private String id = "";
  }

  @AvroMeta(key = "stele", value = "p")
  static final class Priced extends Keyed {
    private BigDecimal price = BigDecimal.ONE;
  }

  @AvroMeta(key = "stele", value = "p")
  static final class Short16 extends Keyed {
    private short number;
  }

  @AvroMeta(key = "stele", value = "p")
  static final class Built extends Keyed {
    private StringBuilder text = new StringBuilder();
  }

  @AvroMeta(key = "stele", value = "p")
  static final class Sorted extends Keyed {
    @AvroMeta(key = "stele", value = "m:*")
    private TreeMap<String, Long> counts = new TreeMap<>();
  }

  @AvroMeta(key = "stele", value = "p")
  static final class Prices extends Keyed {
    @AvroMeta(key = "stele", value = "m:*")
    private Map<String, BigDecimal> prices = Map.of();
  }

  @AvroMeta(key = "stele", value = "p")
  static final class Texts extends Keyed {
    @AvroMeta(key = "stele", value = "m:*")
    private Map<String, StringBuilder> texts = Map.of();
  }

  @AvroMeta(key = "stele", value = "p")
  static final class ByNumber extends Keyed {
    @AvroMeta(key = "stele", value = "m:*")
    private Map<BigInteger, String> names = Map.of();
  }

  /** Avro sets such fields without a check, to objects of other classes. */
  @Test
  void aClassWhoseFieldsDoNotTakeWhatIsReadIsRefused() {
    refused(Priced.class, "field price", "BigDecimal");
    refused(Short16.class, "field number", "Short");
    refused(Built.class, "field text", "StringBuilder");
    refused(Sorted.class, "field counts", "TreeMap");
    refused(Prices.class, "field prices", "BigDecimal");
    refused(Texts.class, "field texts", "StringBuilder");
    refused(ByNumber.class, "field names", "BigInteger");
  }

  private static void refused(Class<?> type, String field, String declared) {
    assertThatThrownBy(() -> RecordMapping.of(type))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining(field)
        .hasMessageContaining(declared);
  }

  enum Color {
    RED,
    GREEN
  }

  @AvroMeta(key = "stele", value = "p")
  static final class Declared extends Keyed {
    private CharSequence text = "";
    private ByteBuffer buffer = ByteBuffer.allocate(0);
    private int number;
    private Integer boxed = 0;
    private boolean flag;
    private float small;
    private Color color = Color.RED;

    @AvroName("other")
    private long renamed;

    @AvroMeta(key = "stele", value = "-")
    @AvroDefault("[1]")
    private List<Integer> tags = List.of();

    @AvroMeta(key = "stele", value = "m:*")
    private HashMap<String, byte[]> pictures = new HashMap<>();
  }

  @Test
  void aClassMayDeclareEveryTypeThatIsRead() {
    Declared record = new Declared();
    ((Keyed) record).id = "a";
    record.text = "t";
    record.buffer = ByteBuffer.wrap(new byte[] {1});
    record.number = 2;
    record.boxed = 3;
    record.flag = true;
    record.small = 0.5f;
    record.color = Color.GREEN;
    record.renamed = 4;
    record.tags = List.of(1);
    record.pictures.put("b", new byte[] {5});
    RecordMapping<Declared> mapping = RecordMapping.of(Declared.class);
    assertThat(mapping.record(row(mapping.mutation(record))))
        .usingRecursiveComparison()
        .isEqualTo(record);
  }

  /** Prints otherwise than it is named. */
  enum Fruit {
    APPLE {
      @Override
      public String toString() {
        return "an apple";
      }
    }
  }

  @AvroMeta(key = "stele", value = "p")
  static final class Basket extends Keyed {
    private Fruit fruit = Fruit.APPLE;
  }

  @Test
  void anEnumIsStoredAsItsSymbolAndNothingElse() {
    Basket basket = new Basket();
    ((Keyed) basket).id = "a";
    RecordMapping<Basket> mapping = RecordMapping.of(Basket.class);
    Mutation mutation = mapping.mutation(basket);
    assertThat(mutation).isEqualTo(Mutation.of("a").put("p", "fruit", "APPLE"));
    assertThat(mapping.record(row(mutation)).fruit).isEqualTo(Fruit.APPLE);

    GenericRecord page = page();
    page.put("kind", "PDF");
    assertThatThrownBy(() -> RecordMapping.of(schema(EVERYTHING)).mutation(page))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("field kind of record web.Page")
        .hasMessageContaining("PDF");
  }

  @Test
  void aRecordMayChangeADefaultThatItHas() {
    RecordMapping<GenericRecord> mapping =
        RecordMapping.of(
            person(
                "{\"name\": \"n\", \"type\": \"int\"},"
                    + " {\"name\": \"tags\", \"type\": {\"type\": \"array\", \"items\": \"int\"},"
                    + " \"default\": [1], \"stele\": \"-\"},"
                    + " {\"name\": \"image\", \"type\": \"bytes\", \"default\": \"x\"}"));
    Row row = new Row(Bytes.of("a"), List.of(new Cell("p", Bytes.of("n"), 1, Bytes.ofLong(1))));
    GenericRecord first = mapping.record(row);
    ((List<?>) first.get("tags")).clear();
    ((ByteBuffer) first.get("image")).put(0, (byte) 'y');
    GenericRecord second = mapping.record(row);
    assertThat(second.get("tags")).isEqualTo(List.of(1));
    assertThat(second.get("image")).isEqualTo(ByteBuffer.wrap(new byte[] {'x'}));
  }

  /** Attempts of a task must write the same edits, whatever map their records have. */
  @Test
  void theEntriesOfAMapAreWrittenInTheOrderOfTheirKeys() {
    GenericRecord ascending = page();
    ascending.put("anchors", new TreeMap<>(Map.of("a", "1", "b", "2", "c", "3")));
    GenericRecord descending = page();
    descending.put("anchors", new TreeMap<>(Map.of("a", "1", "b", "2", "c", "3")).descendingMap());
    RecordMapping<GenericRecord> mapping = RecordMapping.of(schema(EVERYTHING));
    assertThat(mapping.mutation(descending)).isEqualTo(mapping.mutation(ascending));
  }

  @Test
  void aFieldThatWasAddedHasItsDefaultAndOneThatWasRemovedIsLeftAlone() {
    Schema before = person("{\"name\": \"city\", \"type\": \"string\"}");
    Schema after = person("{\"name\": \"age\", \"type\": \"int\", \"default\": 7}");
    GenericRecord ada = new GenericRecordBuilder(before).set("id", "a").set("city", "x").build();
    Row row = row(RecordMapping.of(before).mutation(ada));
    GenericRecord read = RecordMapping.of(after).record(row);
    assertThat(read.get("age")).isEqualTo(7);
    // What only others know stays: nothing is said of it.
    assertThat(RecordMapping.of(after).mutation(read).edits())
        .containsExactly(
            new Edit.Put("p", Bytes.of("age"), Edit.SERVER_TIMESTAMP, Bytes.ofLong(7)));

    Schema needed = person("{\"name\": \"age\", \"type\": \"int\"}");
    assertThatThrownBy(() -> RecordMapping.of(needed).record(row))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("field age of record Person has no default, and row \"a\" has no");
  }

  @Test
  void aFieldThatWasRenamedReadsTheOldColumnUntilItIsWritten() {
    Schema before = person("{\"name\": \"town\", \"type\": \"string\"}");
    RecordMapping<GenericRecord> after =
        RecordMapping.of(
            person(
                "{\"name\": \"city\", \"type\": [\"null\", \"string\"], \"aliases\": [\"town\"]}"));
    GenericRecord ada = new GenericRecordBuilder(before).set("id", "a").set("town", "x").build();
    GenericRecord read = after.record(row(RecordMapping.of(before).mutation(ada)));
    assertThat(read.get("city")).isEqualTo("x");
    // And not afterwards: it would come back when the new one is deleted.
    assertThat(after.mutation(read))
        .isEqualTo(
            Mutation.of("a")
                .put("p", Bytes.of("city"), Bytes.of("x"))
                .deleteColumn("p", Bytes.of("town"), TimeRange.ALL));
    read.put("city", null);
    assertThat(after.mutation(read))
        .isEqualTo(Mutation.of("a").deleteColumn("p", "city").deleteColumn("p", "town"));
  }

  /** As one that was renamed and got its first name back. */
  @Test
  void anAliasThatIsTheFieldsOwnNameDeletesNothing() {
    RecordMapping<GenericRecord> mapping =
        RecordMapping.of(
            person(
                "{\"name\": \"city\", \"type\": \"string\", \"aliases\": [\"town\", \"city\"]}"));
    GenericRecord ada =
        new GenericRecordBuilder(mapping.schema()).set("id", "a").set("city", "x").build();
    assertThat(mapping.mutation(ada))
        .isEqualTo(
            Mutation.of("a")
                .put("p", Bytes.of("city"), Bytes.of("x"))
                .deleteColumn("p", Bytes.of("town"), TimeRange.ALL));
    assertThat(mapping.record(row(mapping.mutation(ada)))).isEqualTo(ada);
  }

  /** Tablets would keep such deletes, for nothing, until a major compaction. */
  @Test
  void aRowThatIsReplacedAnywayIsWrittenWithoutDeletes() {
    RecordMapping<GenericRecord> mapping = RecordMapping.of(schema(EVERYTHING));
    Mutation whole = mapping.mutation(page());
    Mutation puts = mapping.newRow(page());
    assertThat(puts.row()).isEqualTo(whole.row());
    assertThat(puts.edits())
        .isNotEmpty()
        .isEqualTo(whole.edits().stream().filter(Edit.Put.class::isInstance).toList());
    assertThat(whole.edits()).hasSizeGreaterThan(puts.edits().size());
    assertThat(mapping.record(row(puts))).isEqualTo(page());

    RecordMapping<GenericRecord> renamed =
        RecordMapping.of(
            person(
                "{\"name\": \"city\", \"type\": [\"null\", \"string\"], \"aliases\": [\"town\"]}"));
    GenericRecord nobody =
        new GenericRecordBuilder(renamed.schema()).set("id", "a").set("city", null).build();
    assertThat(renamed.mutation(nobody).edits()).hasSize(2);
    assertThat(renamed.newRow(nobody).edits()).isEmpty();
  }

  @Test
  void aTypeMayBecomeWider() {
    Schema narrow =
        person("{\"name\": \"n\", \"type\": \"int\"}, {\"name\": \"x\", \"type\": \"float\"}");
    Schema wide =
        person("{\"name\": \"n\", \"type\": \"long\"}, {\"name\": \"x\", \"type\": \"double\"}");
    GenericRecord record =
        new GenericRecordBuilder(narrow).set("id", "a").set("n", -5).set("x", 0.5f).build();
    GenericRecord read =
        RecordMapping.of(wide).record(row(RecordMapping.of(narrow).mutation(record)));
    assertThat(read.get("n")).isEqualTo(-5L);
    assertThat(read.get("x")).isEqualTo(0.5);
    read.put("n", 1L << 40);
    assertThatThrownBy(
            () -> RecordMapping.of(narrow).record(row(RecordMapping.of(wide).mutation(read))))
        .hasMessageContaining("field n of record Person is of type INT, but row \"a\"");
  }

  @Test
  void bytesThatAreNoTextAreNotReadAsText() {
    RecordMapping<GenericRecord> text =
        RecordMapping.of(person("{\"name\": \"t\", \"type\": \"string\"}"));
    RecordMapping<GenericRecord> map =
        RecordMapping.of(
            person(
                "{\"name\": \"m\", \"type\": {\"type\": \"map\", \"values\": \"int\"},"
                    + " \"stele\": \"f:*\"}"));
    Bytes other = Bytes.of(new byte[] {(byte) 0xfe, 1});
    Bytes key = Bytes.of("a");
    for (Row row :
        List.of(
            new Row(key, List.of(new Cell("p", Bytes.of("t"), 1, other))),
            new Row(other, List.of(new Cell("p", Bytes.of("t"), 1, Bytes.of("v")))))) {
      assertThatThrownBy(() -> text.record(row))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("not UTF-8");
    }
    assertThatThrownBy(
            () -> map.record(new Row(key, List.of(new Cell("f", other, 1, Bytes.ofLong(1))))))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("field m")
        .hasMessageContaining("not UTF-8");
  }

  private static void refused(String fields, String why) {
    assertThatThrownBy(() -> RecordMapping.of(person(fields)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining(why);
  }

  @Test
  void whatCannotBeMappedIsRefusedAndNamed() {
    refused(
        "{\"name\": \"a\", \"type\": {\"type\": \"array\", \"items\": \"int\"}}",
        "field a of record Person is of type");
    refused("{\"name\": \"a\", \"type\": \"int\", \"stele\": \"f:*\"}", "is a whole family");
    refused("{\"name\": \"a\", \"type\": \"int\", \"stele\": \"ROW\"}", "it has 2 and 0");
    refused("{\"name\": \"a\", \"type\": \"int\", \"stele\": \"a\"}", "it may be ROW, FAMILY:");
    refused("{\"name\": \"a\", \"type\": \"int\", \"stele\": \"-\"}", "it has 1 and 0");
    String same = "{\"name\": \"%s\", \"type\": \"int\", \"stele\": \"p:q\"}";
    refused(same.formatted("a") + ", " + same.formatted("b"), "in column p:q, as is field a");
    String map = "\"type\": {\"type\": \"map\", \"values\": \"int\"}, \"stele\": \"p:*\"}";
    refused(same.formatted("a") + ", {\"name\": \"b\", " + map, "in column p:q, as is field b");
    refused("{\"name\": \"a\", " + map + ", {\"name\": \"b\", " + map, "is family p, as is");
    refused(
        "{\"name\": \"name\", \"type\": \"string\"},"
            + " {\"name\": \"fullName\", \"type\": \"string\", \"aliases\": [\"name\"]}",
        "drop the alias");
    // A row without the cell would stand for null, and for a row that is older than the field.
    refused(
        "{\"name\": \"nick\", \"type\": [\"string\", \"null\"], \"default\": \"none\"}",
        "field nick of record Person may be null");
    assertThatThrownBy(() -> RecordMapping.parse("{\"type\": \"strin\"}"))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("strin");
    assertThatThrownBy(() -> RecordMapping.of(schema("\"string\"")))
        .hasMessageContaining("a schema of records");
    GenericRecord nobody = new GenericData.Record(schema(EVERYTHING));
    assertThatThrownBy(() -> RecordMapping.of(schema(EVERYTHING)).mutation(nobody))
        .hasMessageContaining("field url of record web.Page is null");
  }

  @Test
  void aNumberThatIsNotWholeOrTooLargeForItsFieldIsRefused() {
    RecordMapping<GenericRecord> mapping = RecordMapping.of(page().getSchema());
    for (Object wrong : List.of(1.5, 1.5f, 3_000_000_000L)) { // Records of a schema take anything.
      GenericRecord page = page();
      page.put("links", wrong);
      assertThatThrownBy(() -> mapping.mutation(page))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("field links");
    }
    GenericRecord page = page();
    page.put("visits", 2.0);
    assertThatThrownBy(() -> mapping.mutation(page))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("field visits")
        .hasMessageContaining("a record has java.lang.Double there: 2.0 is of none of the classes");
    GenericRecord large = page();
    large.put("links", 3_000_000_000L);
    assertThatThrownBy(() -> mapping.mutation(large))
        .hasMessageContaining("3000000000 is too large for an int");
    large.put("links", 3);
    large.put("rank", 1e300);
    assertThatThrownBy(() -> mapping.mutation(large))
        .hasMessageContaining("1.0E300 is too large for a float");
    large.put("rank", Double.POSITIVE_INFINITY); // A float can be infinite itself.
    assertThat(mapping.record(row(mapping.mutation(large))).get("rank"))
        .isEqualTo(Float.POSITIVE_INFINITY);
    page.put("visits", 2); // An int is one.
    assertThat(mapping.mutation(page).edits()).isNotEmpty();
  }

  @Test
  void aMapWithNullInItIsRefusedWithTheField() {
    RecordMapping<GenericRecord> mapping = RecordMapping.of(page().getSchema());
    GenericRecord page = page();
    page.put("anchors", Collections.singletonMap("org.example", null));
    assertThatThrownBy(() -> mapping.mutation(page))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("field anchors")
        .hasMessageContaining("key org.example");
  }
}
