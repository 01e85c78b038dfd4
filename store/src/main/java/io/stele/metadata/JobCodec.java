package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.VersionedData;
import io.stele.metadata.StoredJob.Commit;
import io.stele.metadata.StoredJob.Pinning;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Jobs as the data of their nodes in the lock service: words of text, with one blank between them.
 *
 * <pre>
 * job         := lease renewals application? pinning? commit? other*
 * lease       := decimal                                         in milliseconds
 * renewals    := decimal                                         how often it was renewed
 * application := application_* | tag_* | job_*                   what runs it, if known
 * pinning     := (pinning | interrupted) id:decimal renewals     see {@link Pinning}
 * commit      := committing | committed
 * other       := key=value                                       writes=nothing: it only reads;
 *                                                                requires=NAME,...: {@link Features}; or
 *                                                                its {@link JobOrigin}; or of a later
 *                                                                version
 * </pre>
 *
 * <p>Later versions may add words at the end, as {@code key=value}. This version ignores words that
 * it does not know, and keeps them when it changes the node. Nodes without an origin are of an
 * earlier version.
 */
final class JobCodec {
  private static final Pattern APPLICATION =
      Pattern.compile(
          "application_[0-9A-Za-z_]{1,100}|"
              + JobNodes.TAG
              + "[0-9a-z-]{1,100}|"
              + JobNodes.JOB
              + JobNodes.NAME);
  private static final Pattern DATA =
      Pattern.compile(
          "(\\d{1,18}) (\\d{1,18})(?: ("
              + APPLICATION
              + "))?(?: (pinning|interrupted) (\\d{1,9}) (\\d{1,18}))?(?: (committing|committed))?"
              + "((?: [a-z][a-z0-9-]*=\\S+)*)");

  private JobCodec() {}

  /** Whether {@code name} may stand for what runs a job. */
  static boolean isApplication(String name) {
    return APPLICATION.matcher(name).matches();
  }

  static Bytes encode(StoredJob job) {
    return Bytes.of(
        job.lease().toMillis()
            + " "
            + job.renewals()
            + job.application().map(name -> " " + name).orElse("")
            + job.pinning().map(JobCodec::encode).orElse("")
            + switch (job.commit()) {
              case NOT_BEGUN -> "";
              case UNDER_WAY -> " committing";
              case DONE -> " committed";
            }
            + job.others());
  }

  private static String encode(Pinning pinning) {
    return (pinning.interrupted() ? " interrupted " : " pinning ")
        + pinning.id()
        + " "
        + pinning.renewals();
  }

  /**
   * The job in {@code node}.
   *
   * @param job its name
   */
  static StoredJob decode(String job, VersionedData node) throws CorruptionException {
    Matcher data = DATA.matcher(node.data().toUtf8());
    if (!data.matches()) {
      throw new CorruptionException(
          "ZooKeeper node " + LockPaths.job(job),
          0,
          "\"" + node.data() + "\" is not the data of a job");
    }
    Optional<Pinning> pinning =
        Optional.ofNullable(data.group(4))
            .map(
                mark ->
                    new Pinning(
                        Integer.parseInt(data.group(5)),
                        Long.parseLong(data.group(6)),
                        mark.equals("interrupted")));
    String commit = data.group(7) == null ? "" : data.group(7);
    return new StoredJob(
        Duration.ofMillis(Long.parseLong(data.group(1))),
        Long.parseLong(data.group(2)),
        Optional.ofNullable(data.group(3)),
        pinning,
        commit.isEmpty()
            ? Commit.NOT_BEGUN
            : commit.equals("committing") ? Commit.UNDER_WAY : Commit.DONE,
        data.group(8),
        node.version());
  }
}
