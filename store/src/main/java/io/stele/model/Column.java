package io.stele.model;

import java.io.Serializable;

/**
 * A column: a family and a qualifier in it.
 *
 * @param family the column family's name
 * @param qualifier the name within the family; may be empty
 */
public record Column(String family, Bytes qualifier) implements Serializable {
  /** The column {@code family:qualifier}. */
  public static Column of(String family, String qualifier) {
    return new Column(family, Bytes.of(qualifier));
  }

  /**
   * Reads {@code family:qualifier}, or {@code family} alone for the empty qualifier; the qualifier
   * may have escapes as {@link Bytes#parse} reads them.
   */
  public static Column parse(String text) {
    int colon = text.indexOf(':');
    return colon < 0
        ? new Column(text, Bytes.EMPTY)
        : new Column(text.substring(0, colon), Bytes.parse(text.substring(colon + 1)));
  }

  @Override
  public String toString() {
    return family + ":" + qualifier;
  }
}
