package io.stele.config;

import org.apache.hadoop.conf.Configuration;

/**
 * A key of a job's configuration to which a program adds, call by call, what the job shall do. Once
 * the job is submitted, its configuration says so; so a copy of that, from which another job is
 * made, begins anew.
 *
 * @param name the key's name; the value at the submission is in {@code <name>.submitted}
 */
public record SubmittedKey(String name) {
  private String submitted() {
    return name + ".submitted";
  }

  /** Notes that a job with this configuration is submitted. */
  public void setSubmitted(Configuration conf) {
    conf.set(submitted(), conf.get(name, ""));
  }

  /** Whether the value is that of a job that was submitted, and nothing was added since. */
  public boolean isSubmitted(Configuration conf) {
    String then = conf.get(submitted(), "");
    return !then.isEmpty() && then.equals(conf.get(name, ""));
  }

  /** Removes a value that was submitted, before the first call for another job. */
  public void beginAnew(Configuration conf) {
    if (isSubmitted(conf)) {
      conf.unset(name);
    }
    conf.unset(submitted());
  }

  /** Adds to the value, after a comma. */
  public void add(Configuration conf, String more) {
    String before = conf.get(name, "");
    conf.set(name, before.isEmpty() ? more : before + "," + more);
  }
}
