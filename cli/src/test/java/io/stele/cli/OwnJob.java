package io.stele.cli;

import io.stele.config.Keys;
import io.stele.mapreduce.SteleJob;
import org.apache.hadoop.conf.Configuration;

/** A program of a user, who has a jar with nothing but it. */
public final class OwnJob {
  private OwnJob() {}

  /** Makes a job, and says of which cluster. */
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.addResource("stele-site.xml");
    System.out.println(
        SteleJob.create(conf, "own job", OwnJob.class).getJobName()
            + " on "
            + Keys.CLUSTER_NAME.in(conf));
  }
}
