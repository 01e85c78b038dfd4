package io.stele.tablet;

import io.stele.Seeds;
import io.stele.tablet.FaultRun.Scenario;
import io.stele.tablet.FaultySites.Area;
import io.stele.tablet.FaultySites.Call;
import io.stele.tablet.FaultySites.Fault;
import java.util.ArrayList;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every file-system call of the scenarios goes wrong once, each in one of the ways there are; with
 * {@code -Dstele.seeds=N} each in all of them, over N random schemas and histories. A failure says
 * how to repeat it: {@code -Dstele.seed=N -Dstele.fault=SCENARIO:AREA:CALL:FAULT}.
 */
class TabletFaultTest {
  private static final String FAULT = "stele.fault";

  /** The random scenario is long, and mostly what the others are: of its calls every so-many-th. */
  private static final int RANDOM_STEP = 11;

  @ParameterizedTest
  @EnumSource(Scenario.class)
  void noCallThatGoesWrongLosesAWriteOrLeavesAFile(Scenario scenario) throws Exception {
    boolean campaign =
        Integer.getInteger("stele.seeds") != null || Long.getLong("stele.seed") != null;
    for (PrimitiveIterator.OfLong seeds = Seeds.of(1).iterator(); seeds.hasNext(); ) {
      long seed = seeds.nextLong();
      String one = System.getProperty(FAULT);
      if (one != null) {
        repeat(scenario, seed, one.split(":"), campaign);
      } else {
        everyCall(scenario, seed, campaign);
      }
    }
  }

  private static void repeat(Scenario scenario, long seed, String[] parts, boolean campaign)
      throws Exception {
    if (Scenario.valueOf(parts[0]) == scenario) {
      Call call = new Call(Area.valueOf(parts[1]), Integer.parseInt(parts[2]), null, "asked for");
      run(scenario, seed, call, Fault.valueOf(parts[3]), campaign);
    }
  }

  private static void everyCall(Scenario scenario, long seed, boolean campaign) throws Exception {
    List<Call> calls = new FaultRun(scenario, seed, campaign).calls();
    int step = scenario == Scenario.RANDOM && !campaign ? RANDOM_STEP : 1;
    for (int i = 0; i < calls.size(); i += step) {
      Call call = calls.get(i);
      List<Fault> fitting =
          new ArrayList<>(
              Stream.of(Fault.values()).filter(fault -> fault.fits(call.operation())).toList());
      for (Fault fault : campaign ? fitting : List.of(fitting.get(i % fitting.size()))) {
        run(scenario, seed, call, fault, campaign);
      }
    }
  }

  private static void run(Scenario scenario, long seed, Call call, Fault fault, boolean campaign)
      throws Exception {
    FaultRun run = new FaultRun(scenario, seed, campaign);
    try {
      run.run(call.area(), call.number(), fault);
    } catch (Exception | AssertionError e) {
      throw new AssertionError(
          String.format(
              "%s, call %s, fault %s: repeat it with -D%s=%s:%s:%d:%s%s",
              scenario,
              call,
              fault,
              FAULT,
              scenario,
              call.area(),
              call.number(),
              fault,
              campaign ? " -Dstele.seed=" + seed : ""),
          e);
    }
  }
}
