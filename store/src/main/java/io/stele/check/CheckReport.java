package io.stele.check;

import java.util.List;

/**
 * The findings of a check.
 *
 * @param servers how many tablet servers hold their locks
 * @param tables how many tables there are, without METADATA
 * @param tablets how many tablets there are, with METADATA's
 * @param files how many SSTables tablets have
 * @param fileBytes what these take, in bytes
 * @param unnamedFiles how many files no tablet has, nor had recently; the master will sweep them
 * @param unnamedBytes what these take, in bytes
 * @param verified whether the contents of the SSTables were checked too
 * @param problems in order of what they concern
 */
public record CheckReport(
    int servers,
    int tables,
    int tablets,
    int files,
    long fileBytes,
    int unnamedFiles,
    long unnamedBytes,
    boolean verified,
    List<Problem> problems) {
  public CheckReport {
    problems = List.copyOf(problems);
  }
}
