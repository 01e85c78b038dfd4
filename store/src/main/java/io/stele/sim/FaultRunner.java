package io.stele.sim;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;

/**
 * Injects planned faults into a cluster, and ends them when their time is over.
 *
 * <p>For the holder of the simulation's baton alone.
 */
final class FaultRunner {
  private final SimulatedCluster cluster;
  private final Simulation simulation;
  private final List<BiPredicate<SimulatedProcess, SimulatedProcess>> cuts = new ArrayList<>();

  FaultRunner(SimulatedCluster cluster) {
    this.cluster = cluster;
    this.simulation = cluster.simulation();
  }

  /** Schedules each fault of {@code plan} at its time, from now on. */
  void begin(List<Fault.Planned> plan) {
    for (Fault.Planned planned : plan) {
      simulation.schedule(
          simulation.outside(),
          planned.at(),
          "fault: " + planned.fault(),
          () -> begin(planned.fault()));
    }
  }

  private void begin(Fault fault) {
    if (fault instanceof Fault.Kill kill) {
      slot(kill.kind(), kill.slot()).process().kill();
    } else if (fault instanceof Fault.KillInTurn kill) {
      slot(SimulatedCluster.Kind.SERVER, kill.slot()).process().kill();
      later(
          fault.length(),
          () -> slot(SimulatedCluster.Kind.SERVER, kill.slot() + 1).process().kill());
    } else if (fault instanceof Fault.DieAt die) {
      SimulatedProcess process = slot(die.kind(), die.slot()).process();
      process.traps().set(die.step(), die.nth(), process::kill);
    } else if (fault instanceof Fault.PauseAt pause) {
      SimulatedProcess process = slot(pause.kind(), pause.slot()).process();
      process.traps().set(pause.step(), pause.nth(), () -> pause(process, fault.length()));
    } else if (fault instanceof Fault.SplitInRead split) {
      SimulatedProcess process = slot(SimulatedCluster.Kind.MASTER, split.slot()).process();
      process
          .traps()
          .set(
              Step.NEXT_TABLET,
              split.nth(),
              () -> {
                pause(process, fault.length());
                cluster.operator().splitAll(fault.length().dividedBy(2));
              });
    } else if (fault instanceof Fault.Suspect suspect) {
      cluster.suspect(slot(SimulatedCluster.Kind.SERVER, suspect.slot()));
    } else if (fault instanceof Fault.SuspectCutOff suspect) {
      SimulatedCluster.Kind kind = SimulatedCluster.Kind.SERVER;
      cluster.suspect(slot(kind, suspect.slot()));
      cut(new Fault.Cut(kind, suspect.slot(), suspect.far(), Fault.Way.BOTH, suspect.length()));
    } else if (fault instanceof Fault.DrainAndEnd drain) {
      cluster.drainAndEnd(slot(SimulatedCluster.Kind.SERVER, drain.slot()));
    } else if (fault instanceof Fault.Move move) {
      cluster.operator().move(move);
    } else if (fault instanceof Fault.Split split) {
      cluster.operator().split(split.which());
    } else if (fault instanceof Fault.Merge merge) {
      cluster.operator().merge(merge.which());
    } else if (fault instanceof Fault.Job job) {
      cluster.operator().run(job);
    } else if (fault instanceof Fault.Drain drain) {
      SimulatedCluster.Slot slot = slot(SimulatedCluster.Kind.SERVER, drain.slot());
      cluster.operator().drain(slot);
      later(fault.length(), () -> cluster.operator().undrain(slot));
    } else if (fault instanceof Fault.Balance balance) {
      cluster.operator().balance(balance.off());
      later(fault.length(), () -> cluster.operator().balance(false));
    } else if (fault instanceof Fault.KillAll) {
      cluster.killAll();
    } else if (fault instanceof Fault.LoseNodes) {
      new LostNodes(cluster).loseAndRestore();
    } else if (fault instanceof Fault.Pause pause) {
      pause(slot(pause.kind(), pause.slot()).process(), fault.length());
    } else if (fault instanceof Fault.Freeze freeze) {
      SimulatedProcess process = slot(SimulatedCluster.Kind.SERVER, freeze.slot()).process();
      cluster.network().services().countChangesOnly();
      process.freeze();
      later(fault.length(), process::resume);
    } else {
      beginAround(fault);
    }
  }

  /** One that is not of a member itself, but of what it needs. */
  private void beginAround(Fault fault) {
    if (fault instanceof Fault.Cut cut) {
      cut(cut);
    } else if (fault instanceof Fault.CutPair pair) {
      SimulatedProcess one = slot(pair.kind(), pair.slot()).process();
      SimulatedProcess other = slot(SimulatedCluster.Kind.SERVER, pair.server()).process();
      cut(
          (from, to) -> (from == one && to == other) || (from == other && to == one),
          pair.length());
    } else if (fault instanceof Fault.BadNetwork bad) {
      cluster.network().setWeather(bad.weather());
      later(fault.length(), () -> cluster.network().setWeather(SimulatedNetwork.Weather.FAIR));
    } else if (fault instanceof Fault.SlowLink slow) {
      SimulatedProcess process = slot(slow.kind(), slow.slot()).process();
      cluster.network().setDelay(process, slow.delay());
      later(fault.length(), () -> cluster.network().setDelay(process, Duration.ZERO));
    } else if (fault instanceof Fault.EndSession end) {
      slot(end.kind(), end.slot()).session().expire();
    } else if (fault instanceof Fault.LoseSession lose) {
      slot(lose.kind(), lose.slot()).session().expire();
      cut(
          new Fault.Cut(
              lose.kind(), lose.slot(), Fault.Far.ENSEMBLE, Fault.Way.BOTH, lose.length()));
    } else if (fault instanceof Fault.NoEnsemble) {
      cluster.ensemble().setDown(true);
      later(fault.length(), () -> cluster.ensemble().setDown(false));
    } else if (fault instanceof Fault.LostAnswers lost) {
      cluster.ensemble().setLostAnswers(lost.probability());
      later(fault.length(), () -> cluster.ensemble().setLostAnswers(0));
    } else if (fault instanceof Fault.WrongClock wrong) {
      SimulatedProcess process = slot(wrong.kind(), wrong.slot()).process();
      process.setSkew(wrong.ahead());
      later(fault.length(), () -> process.setSkew(Duration.ZERO));
    } else if (fault instanceof Fault.BadFiles bad) {
      cluster.files().setWeather(bad.weather());
      later(fault.length(), () -> cluster.files().setWeather(SimulatedFiles.Weather.FAIR));
    } else if (fault instanceof Fault.StaleNames stale) {
      SimulatedProcess process = slot(stale.kind(), stale.slot()).process();
      cluster.files().setStale(process, true);
      later(fault.length(), () -> cluster.files().setStale(process, false));
    } else if (fault instanceof Fault.Poison poison) {
      cluster.files().poison(poison.which());
      later(fault.length(), () -> cluster.files().endPoison());
    } else if (fault instanceof Fault.NoFiles) {
      cluster.files().setAway(true);
      later(fault.length(), () -> cluster.files().setAway(false));
    } else if (fault instanceof Fault.FullDisk) {
      cluster.files().setFull(true);
      later(fault.length(), () -> cluster.files().setFull(false));
    } else {
      throw new IllegalStateException("an unknown fault: " + fault);
    }
  }

  private SimulatedCluster.Slot slot(SimulatedCluster.Kind kind, int number) {
    List<SimulatedCluster.Slot> slots = cluster.slots(kind);
    return slots.get(number % slots.size());
  }

  private void pause(SimulatedProcess process, Duration length) {
    process.pause();
    later(length, process::resume);
  }

  private void cut(Fault.Cut cut) {
    SimulatedProcess process = slot(cut.kind(), cut.slot()).process();
    cut(
        (from, to) ->
            switch (cut.way()) {
              case OUT -> from == process && isFar(cut.far(), to);
              case IN -> to == process && isFar(cut.far(), from);
              case BOTH ->
                  (from == process && isFar(cut.far(), to))
                      || (to == process && isFar(cut.far(), from));
            },
        cut.length());
  }

  /** Keeps back what one process sends to another. */
  private void cut(BiPredicate<SimulatedProcess, SimulatedProcess> fromTo, Duration length) {
    cuts.add(fromTo);
    apply();
    later(
        length,
        () -> {
          cuts.remove(fromTo);
          apply();
        });
  }

  private boolean isFar(Fault.Far far, SimulatedProcess other) {
    boolean ensemble = other == cluster.ensemble().machine();
    boolean files = other == cluster.files().machine();
    boolean client = other.name().startsWith("client");
    return switch (far) {
      case ENSEMBLE -> ensemble;
      case FILES -> files;
      case CLIENTS -> client;
      case MEMBERS -> !ensemble && !files && !client;
      case HALF -> ensemble || (!files && (!client || other.isOdd()));
      case OTHER_HALF -> ensemble || (!files && (!client || !other.isOdd()));
      case EVERYTHING -> true;
    };
  }

  private void apply() {
    cluster.network().cut((from, to) -> cuts.stream().anyMatch(one -> one.test(from, to)));
  }

  private void later(Duration length, Runnable end) {
    simulation.schedule(simulation.outside(), length, "", end);
  }

  /** Ends all faults at once. */
  void heal() {
    cuts.clear();
    cluster.heal();
  }
}
