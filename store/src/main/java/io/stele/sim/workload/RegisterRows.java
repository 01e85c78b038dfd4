package io.stele.sim.workload;

import io.stele.model.Bytes;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.RegisterChecker;
import io.stele.sim.check.Violation;
import java.util.ArrayList;
import java.util.List;

/** The rows of workloads in which each row is a register: their names, and how they are checked. */
final class RegisterRows {
  private RegisterRows() {}

  /** The name of a register. */
  static Bytes row(int number) {
    return Bytes.of("register" + (char) ('a' + number));
  }

  /** Reads the first {@code rows} registers back. */
  static void readBack(WorkloadContext context, String table, int rows)
      throws InterruptedException {
    List<RecordedTable.ReadBack> reads = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      Bytes row = row(i);
      reads.add(recorded -> recorded.read(row));
    }
    RecordedTable.readBack(context, table, reads);
  }

  /** Each register is linearizable, and was read back. */
  static List<Violation> check(List<Call> calls) {
    List<Violation> violations =
        new ArrayList<>(RegisterChecker.check(calls, RegisterChecker.STEPS_MAX));
    violations.addAll(CallChecker.checkReadBack(calls));
    return violations;
  }
}
