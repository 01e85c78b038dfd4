package io.stele.sim.workload;

import java.time.Duration;

/**
 * How fast a client works: it pauses between its calls, from no time to {@code pauseMax}.
 *
 * @param pauseMax the longest pause
 */
public record Pace(Duration pauseMax) {
  void pause(WorkloadContext context) throws InterruptedException {
    context.pause(Duration.ofNanos(context.random().nextLong(pauseMax.toNanos() + 1)));
  }
}
