package io.stele.config;

import java.util.Optional;

/** The version of Stele that runs. */
public final class Version {
  private Version() {}

  /** Such as {@code 0.1.0}; says so where classes are in no jar. */
  public static String text() {
    return Optional.ofNullable(Version.class.getPackage().getImplementationVersion())
        .orElse("(not built)");
  }
}
