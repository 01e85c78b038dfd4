package io.stele.master;

import io.stele.metadata.JobOrigin;
import io.stele.metadata.StoredJob;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableUse;
import io.stele.wire.ControlServer;
import io.stele.wire.control.ControlProtos.BeginJobRequestProto;
import io.stele.wire.control.ControlProtos.BeginJobResponseProto;
import io.stele.wire.control.ControlProtos.CommitJobRequestProto;
import io.stele.wire.control.ControlProtos.EndJobRequestProto;
import io.stele.wire.control.ControlProtos.JobUseProto;
import io.stele.wire.control.ControlProtos.MakeJobDirectoryRequestProto;
import io.stele.wire.control.ControlProtos.RenewJobRequestProto;
import io.stele.wire.control.ControlProtos.RenewJobResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Requests about jobs, as messages. They wait for the lock service, and those about directories for
 * the NameNode.
 *
 * <p>Safe for use by any number of threads.
 */
final class JobRequests {
  private final InstantSource clock;
  private final JobLeases jobs;
  private final JobDirectories directories;

  JobRequests(InstantSource clock, JobLeases jobs, JobDirectories directories) {
    this.clock = clock;
    this.jobs = jobs;
    this.directories = directories;
  }

  BeginJobResponseProto begin(BeginJobRequestProto request) throws IOException {
    String job =
        jobs.begin(
            request.getRequest(),
            Duration.ofMillis(request.getLeaseMillis()),
            Optional.of(request.getApplication()).filter(name -> !name.isEmpty()),
            new JobOrigin(Optional.of(clock.instant()), ControlServer.caller(), uses(request)),
            request.getReadsOnly() ? StoredJob.Kind.READS_ONLY : StoredJob.Kind.MAY_WRITE);
    return BeginJobResponseProto.newBuilder().setJob(job).build();
  }

  /** What it says it does; a way of a later version is not known here. */
  private static List<TableUse> uses(BeginJobRequestProto request) {
    return request.getUsesList().stream()
        .filter(JobUseProto::hasHow)
        .map(use -> new TableUse(use.getTable(), TableUse.How.valueOf(use.getHow().name())))
        .toList();
  }

  RenewJobResponseProto renew(RenewJobRequestProto request) throws IOException {
    String job = request.getJob();
    int id = request.getPinning().getId();
    boolean changed = false;
    if (!request.hasPinning()) {
      jobs.renew(job);
    } else {
      switch (request.getPinning().getStep()) {
        case BEGINS -> changed = !jobs.beginPinning(job, id);
        case GOES_ON -> jobs.renewPinning(job, id);
        case IS_DONE -> jobs.endPinning(job, id);
      }
    }
    return RenewJobResponseProto.newBuilder().setChanged(changed).build();
  }

  void commit(CommitJobRequestProto request) throws IOException {
    jobs.commit(request.getJob());
    directories.endWriting(request.getJob());
  }

  void makeDirectory(MakeJobDirectoryRequestProto request) throws IOException {
    List<TableId> tables =
        request.getTableIdsList().stream()
            .map(id -> MasterRequests.parsed(id, TableId::new))
            .toList();
    directories.make(request.getJob(), tables, ControlServer.caller());
  }

  void end(EndJobRequestProto request) throws IOException {
    if (!request.getFinished()) {
      jobs.end(request.getJob());
      return;
    }
    if (directories.has(request.getJob())) {
      throw SteleException.refused("job " + request.getJob() + " writes files: commit or end it");
    }
    jobs.finish(request.getJob());
  }
}
