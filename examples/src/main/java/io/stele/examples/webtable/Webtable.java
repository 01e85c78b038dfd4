package io.stele.examples.webtable;

import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.TableSchema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The table: a row for each page, its key the page's address with the host reversed, so that the
 * pages of a site, and of its sub-sites, are together.
 *
 * <pre>
 * row                                            contents:   language:   anchor:&lt;referring row&gt;
 * org.apache.hadoop/docs/hadoop-common/a/B.html  the page    en          the link's text
 * </pre>
 */
public final class Webtable {
  /** The table's usual name. */
  public static final String TABLE = "webtable";

  /** The page as it came, up to three versions. */
  public static final String CONTENTS = "contents";

  /** The page's language, such as {@code en}; {@code und} where it cannot be told. */
  public static final String LANGUAGE = "language";

  /** Who refers to the page, and with what words: a column for each referring page. */
  public static final String ANCHOR = "anchor";

  /** The only column of {@link #CONTENTS} and of {@link #LANGUAGE}. */
  public static final Bytes ONLY = Bytes.EMPTY;

  private static final int CONTENTS_VERSIONS = 3;

  // What is small and often read is kept apart from the pages.
  private static final String PAGES = "pages";

  // Pages of one host are much alike: blocks of this size hold enough of them for Zstandard.
  private static final int PAGE_BLOCK_BYTES = 256 << 10;

  private Webtable() {}

  /**
   * The table's schema.
   *
   * @param splitBytes the size above which a tablet is split
   */
  public static TableSchema schema(String table, long splitBytes) {
    return TableSchema.of(
            table,
            List.of(
                new ColumnFamily(CONTENTS, GcPolicy.maxVersions(CONTENTS_VERSIONS), PAGES),
                ColumnFamily.of(LANGUAGE),
                ColumnFamily.of(ANCHOR)),
            LocalityGroup.of(PAGES)
                .withCodec(Codec.ZSTD_HIGH)
                .withBlockBytes(PAGE_BLOCK_BYTES)
                .withCachePriority(CachePriority.LOW))
        .withSplitBytes(splitBytes);
  }

  /** The row of the page at {@code host} and {@code path}, which begins with '/'. */
  public static Bytes row(String host, String path) {
    return Bytes.of(reversed(host) + path);
  }

  /** A host with its labels the other way round; a port stays behind. */
  static String reversed(String host) {
    int colon = host.indexOf(':');
    String name = colon < 0 ? host : host.substring(0, colon);
    List<String> labels = new ArrayList<>(List.of(name.split("\\.")));
    Collections.reverse(labels);
    return String.join(".", labels) + (colon < 0 ? "" : host.substring(colon));
  }
}
