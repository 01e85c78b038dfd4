package io.stele.mapreduce.documents;

import java.io.IOException;

/**
 * The blocks of {@code docs/mapreduce.md}. Each names words that no other block has; tests of
 * several modules take the blocks from here and run them.
 */
public enum MapReduceBlock {
  READER_COMMAND("stele table alter webtable --reader"),
  BULK_OUTPUT("AnchorMapper.class"),
  BULK_WITHOUT_REDUCE("PageMapper.class"),
  REPLACING_ROWS("BulkOutputFormat.replaceTable"),
  OWN_JOB("hadoop jar my.jar"),
  HADOOP_JAR("hadoop jar /opt/stele"),
  VERIFICATION("files are damaged or missing"),
  EXPORTED_RECORDS("record Row"),
  RECORD_SCHEMA("\"stele\": \"ROW\""),
  RECORD_CLASS("RecordMapping.of(Person.class)"),
  SPARK("newAPIHadoopRDD");

  static final String DOCUMENT = "docs/mapreduce.md";

  private final String words;

  MapReduceBlock(String words) {
    this.words = words;
  }

  /** The block as it stands in the document. */
  public String text() throws IOException {
    return Document.read(DOCUMENT).block(words);
  }

  /** The lines of it. */
  public String[] lines() throws IOException {
    return text().lines().toArray(String[]::new);
  }
}
