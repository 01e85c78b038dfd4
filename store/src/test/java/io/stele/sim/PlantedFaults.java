package io.stele.sim;

import io.stele.lock.Lock;
import io.stele.metadata.Assignment;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.Settled;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** The mistakes that the simulator must find: those that an engineer might make. */
final class PlantedFaults {
  private static final String ROOM = "io.stele.";

  /** What a write waits for takes long, and may end its process: others read meanwhile. */
  private static final Fault SLOW_FILES =
      new Fault.BadFiles(new SimulatedFiles.Weather(0.4, 0.1, 0, 0.005, 0), Duration.ofSeconds(29));

  private PlantedFaults() {}

  /** Those that any history with a crash or a move mostly shows. */
  static List<PlantedFault> thatShowSoon() {
    Set<String> names =
        Set.of(
            "the log of a dead server is not renamed",
            "the new owner's log is not recorded",
            "the log is not flushed",
            "the redo point is one too high",
            "stale locations are not forgotten");
    return all().stream().filter(fault -> names.contains(fault.name())).toList();
  }

  /** All of them. */
  static List<PlantedFault> all() {
    return Stream.of(
            ofOwnersAndLogs(),
            ofTablets(),
            ofJobs(),
            ofPinsAndClearing(),
            ofUnsettledTablets(),
            ofFamilies(),
            ofAttempts())
        .flatMap(List::stream)
        .toList();
  }

  private static List<PlantedFault> ofJobs() {
    return List.of(
        fault(
                "a tablet does not ask what became of a job",
                "tabletserver.RequestPermissions",
                "check",
                PlantedFault.Nothing.class)
            .under("jobs"),
        fault(
                "a job's file is deleted although the mark may have missed it",
                "master.Sweeper",
                "isSafe",
                PlantedFault.Yes.class)
            .under("jobs")
            .in(Focus.SPLITTING),
        fault(
                "a task says that its records are settled before they are",
                "metadata.TaskRecords",
                "settle",
                ToTheLast.class)
            .under("tasks"),
        fault(
                "what is settled of tasks is not kept in files",
                "tablet.TaskMemory",
                "restore",
                SettledLost.class)
            .under("tasks"),
        fault(
                "the numbers of a job's files are used again",
                "tablet.Sequencer",
                "passTo",
                PlantedFault.Nothing.class)
            .under("jobs"),
        fault(
                "rows are replaced only in tablets with files of the job",
                "record.JobChange",
                "rows",
                RowsOfFiles.class)
            .under("jobs"),
        fault(
                "a task's later runs come before its earlier ones",
                "bulk.AttemptOutput",
                "name",
                LaterRunsBefore.class)
            .under("jobs"),
        fault(
                "jobs are taken in the order of their names",
                "metadata.JobNodes",
                "committed",
                Sorted.class)
            .under("jobs"),
        fault(
                "jobs commit while tablets are pinned",
                "metadata.JobNodes",
                "pinning",
                NobodyPins.class)
            .under("pinned-commits"));
  }

  private static List<PlantedFault> ofPinsAndClearing() {
    return List.of(
        fault("pins are not recorded", "metadata.RecordCodec", "putPin", PlantedFault.Nothing.class)
            .under("pins"),
        fault(
                "rows are cleared again by a request that comes late",
                "tabletserver.RowClearing",
                "left",
                AllAgain.class)
            .with(
                fault(
                    "after the change has ended",
                    "metadata.TableNames",
                    "isRunning",
                    PlantedFault.Yes.class))
            .under("clears"),
        fault(
                "the number of a clearing is used again",
                "tablet.Sequencer",
                "passTo",
                PlantedFault.Nothing.class)
            .under("clears"));
  }

  /** Those that show where what is decided and what is served differ for long. */
  private static List<PlantedFault> ofUnsettledTablets() {
    return List.of(
        fault(
                "a tablet answers before it knows that its rows are cleared",
                "tablet.CurrentState",
                "requireSettled",
                PlantedFault.Nothing.class)
            .under("clears")
            .in(Focus.UNSETTLED),
        fault(
                "a change is applied though its row was cleared since it was read",
                "tablet.Sequencer",
                "checkBasis",
                PlantedFault.Nothing.class)
            .under("clears")
            .in(Focus.UNSETTLED),
        fault(
                "a change is applied though its row got a job's files since it was read",
                "tablet.Sequencer",
                "checkBasis",
                PlantedFault.Nothing.class)
            .under("jobs")
            .in(Focus.UNSETTLED));
  }

  private static List<PlantedFault> ofFamilies() {
    return List.of(
        fault(
                "a dropped family's name is free before all its cells are gone",
                "master.Clearing",
                "advance",
                PlantedFault.Yes.class)
            .under("families"),
        fault(
                "cells of erased families are read from files that still have them",
                "tablet.FamilyCursor",
                "isOfFamilies",
                PlantedFault.No.class)
            .under("families"),
        fault(
                "a family is dropped though a server that was not told may answer",
                "master.Fences",
                "leased",
                NoneIsLeased.class)
            .under("families"));
  }

  private static List<PlantedFault> ofAttempts() {
    return List.of(
        fault(
            "a change of which the answer was lost is not in doubt",
            "metadata.Attempts",
            "doubt",
            NoDoubt.class));
  }

  private static List<PlantedFault> ofOwnersAndLogs() {
    return List.of(
        fault("logs that tablets need are deleted", "master.Sweeper", "sweepLogs", NoneNamed.class),
        fault(
            "a tablet is assigned again under the epoch that it had",
            "metadata.Assignment",
            "assignedTo",
            SameEpoch.class),
        fault("leases are not checked", "lock.Lease", "valid", PlantedFault.Yes.class),
        fault(
            "a lease is renewed without asking the lock service",
            "lock.Lease",
            "renew",
            LockNotAsked.class),
        fault(
                "the master does not wait for the lease to run out",
                "master.ServerLocks",
                "isSuspected",
                PlantedFault.No.class)
            .in(Focus.SUSPECTED),
        fault(
            "the log of a dead server is not renamed",
            "master.DeadLogs",
            "take",
            PlantedFault.Nothing.class),
        fault("open segments are not closed", "log.LogFence", "isClosed", PlantedFault.Yes.class)
            .under("lists"),
        fault(
            "the new owner's log is not recorded",
            "metadata.RecordCodec",
            "putLog",
            PlantedFault.Nothing.class),
        fault("segments are deleted early", "log.SegmentLedger", "release", ReleaseAll.class),
        fault("the log is not flushed", "log.SegmentWriter", "flush", PlantedFault.Nothing.class));
  }

  private static List<PlantedFault> ofTablets() {
    return List.of(
        fault("the redo point is one too high", "record.ManifestEdit", "redoPoint", OneMore.class),
        fault("the read point moves early", "tablet.CommitQueue", "add", ReadPointEarly.class)
            .under("registers")
            .besides(SLOW_FILES),
        fault(
                "operation ids are not kept in files",
                "tablet.OperationWindow",
                "encodeRecent",
                NoBytes.class)
            .under("counters"),
        fault(
                "operation ids are not replayed",
                "tablet.OperationWindow",
                "replay",
                PlantedFault.Nothing.class)
            .under("counters"),
        fault(
            "an unloaded tablet is still served",
            "tabletserver.HostedTablets",
            "remove",
            PlantedFault.Nothing.class),
        fault(
            "stale locations are not forgotten",
            "metadata.TabletLocator",
            "doubt",
            PlantedFault.Nothing.class),
        fault(
            "files being written are swept", "master.Sweeper", "isOrphan", PlantedFault.Yes.class),
        fault("writes go on while a tablet is split", "tablet.Sequencer", "pause", NoPause.class),
        fault(
            "the state is left out of the conditions on METADATA's records",
            "metadata.TableRecordRows",
            "update",
            ConditionHolds.class),
        fault(
            "logs are struck before what was replayed is written out",
            "tablet.Tablet",
            "hasReplayed",
            PlantedFault.No.class),
        fault(
                "the mark phase of a sweep misses tablets",
                "metadata.ValidRecords",
                "tile",
                PlantedFault.Yes.class)
            .in(Focus.SPLITTING),
        fault(
            "records of splits that were not made are valid",
            "metadata.ValidRecords",
            "isNext",
            PlantedFault.Yes.class),
        fault(
            "a split tablet is served beside its children",
            "tabletserver.HostedTablets",
            "split",
            ParentServed.class),
        fault(
            "tablets are merged before they are unloaded",
            "metadata.MergeRecords",
            "isFree",
            PlantedFault.Yes.class),
        fault("tombstones go too early", "tablet.VersionFilter", "tombstone", Drop.class));
  }

  private static PlantedFault fault(String name, String className, String method, Class<?> advice) {
    return new PlantedFault(
        name, ROOM + className, method, advice, PlantedFault.Where.ANY, Optional.empty());
  }

  static final class NoDoubt {
    @Advice.OnMethodExit
    static void exit(@Advice.FieldValue(value = "inDoubt", readOnly = false) boolean inDoubt) {
      inDoubt = false;
    }
  }

  static final class NoneNamed {
    @Advice.OnMethodEnter
    static void enter(@Advice.Argument(value = 1, readOnly = false) Set<ServerId> named) {
      named = Set.of();
    }
  }

  static final class SameEpoch {
    @Advice.OnMethodExit
    static void exit(@Advice.Return(readOnly = false) Assignment returned) {
      returned =
          new Assignment(returned.state(), returned.server(), Math.max(1, returned.epoch() - 1));
    }
  }

  static final class ConditionHolds {
    @Advice.OnMethodEnter
    static void enter(
        @Advice.Argument(value = 0, readOnly = false, typing = Assigner.Typing.DYNAMIC)
            Object condition) {
      condition = Loosely.conditionThatHolds(condition);
    }
  }

  static final class ParentServed {
    @Advice.OnMethodExit
    static void exit(
        @Advice.Argument(value = 0, typing = Assigner.Typing.DYNAMIC) Object parent,
        @Advice.FieldValue("serving") Map<Object, Object> serving) {
      serving.put(Loosely.id(parent), parent);
    }
  }

  static final class LockNotAsked {
    @Advice.OnMethodEnter
    static void enter(
        @Advice.Argument(value = 0, readOnly = false) Lock lock,
        @Advice.FieldValue("runtime") ProcessRuntime runtime) {
      lock = Loosely.lockThatIsNotAsked(runtime);
    }
  }

  static final class AllAgain {
    @Advice.OnMethodExit
    static void exit(
        @Advice.Argument(2) RowRange rows,
        @Advice.Return(readOnly = false) List<RowRange> returned) {
      returned = List.of(rows);
    }
  }

  static final class RowsOfFiles {
    @Advice.OnMethodExit
    static void exit(
        @Advice.FieldValue("replaced") List<RowRange> replaced,
        @Advice.Return(readOnly = false) List<RowRange> returned) {
      returned = returned.subList(replaced.size(), returned.size());
    }
  }

  static final class NobodyPins {
    @Advice.OnMethodExit
    static void exit(@Advice.Return(readOnly = false) Optional<String> returned) {
      returned = Optional.empty();
    }
  }

  static final class NoneIsLeased {
    @Advice.OnMethodExit
    static void exit(@Advice.Return(readOnly = false) Set<ServerId> returned) {
      returned = Set.of();
    }
  }

  static final class LaterRunsBefore {
    @Advice.OnMethodExit
    static void exit(
        @Advice.FieldValue("writers") int writers,
        @Advice.Return(readOnly = false) String returned) {
      returned = returned.replaceFirst("_[0-9]+$", "_" + (2_000_000_000 - writers));
    }
  }

  static final class Sorted {
    @Advice.OnMethodExit
    static void exit(@Advice.Return(readOnly = false) List<String> returned) {
      returned = List.copyOf(new TreeSet<>(returned));
    }
  }

  static final class ToTheLast {
    @Advice.OnMethodEnter
    static void enter(
        @Advice.Argument(value = 0, readOnly = false) long below,
        @Advice.FieldValue("next") long next) {
      below = next;
    }
  }

  static final class SettledLost {
    @Advice.OnMethodExit
    static void exit(@Advice.FieldValue(value = "settled", readOnly = false) Settled settled) {
      settled = Settled.NONE;
    }
  }

  static final class NoPause {
    @Advice.OnMethodExit
    static void exit(@Advice.FieldValue(value = "paused", readOnly = false) boolean paused) {
      paused = false;
    }
  }

  static final class Drop {
    @Advice.OnMethodExit
    static void exit(
        @Advice.Return(readOnly = false, typing = Assigner.Typing.DYNAMIC) Object verdict) {
      verdict = Loosely.constant(verdict, "DROP");
    }
  }

  static final class ReleaseAll {
    @Advice.OnMethodEnter
    static void enter(@Advice.Argument(value = 1, readOnly = false) long sequence) {
      sequence = Long.MAX_VALUE;
    }
  }

  static final class OneMore {
    @Advice.OnMethodExit
    static void exit(@Advice.Return(readOnly = false) long returned) {
      returned = returned + 1;
    }
  }

  static final class ReadPointEarly {
    @Advice.OnMethodExit
    static void exit(
        @Advice.Argument(0) long sequence,
        @Advice.FieldValue(value = "readPoint", readOnly = false) long readPoint) {
      readPoint = sequence;
    }
  }

  static final class NoBytes {
    @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
    static boolean enter() {
      return true;
    }

    @Advice.OnMethodExit
    static void exit(@Advice.Return(readOnly = false) Bytes returned) {
      returned = Bytes.EMPTY;
    }
  }
}
