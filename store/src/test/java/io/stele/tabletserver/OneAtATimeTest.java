package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class OneAtATimeTest {
  private final Queue<Runnable> given = new ArrayDeque<>();
  private final List<String> done = new ArrayList<>();
  private final OneAtATime<String> tasks = new OneAtATime<>(given::add);

  private void execute(String owner, String... names) {
    for (String name : names) {
      tasks.execute(owner, () -> done.add(name));
    }
  }

  /** Runs what the executor was given, and what it is given for that. */
  private void runAll() {
    while (!given.isEmpty()) {
      assertThat(given).as("one at a time").hasSize(1);
      given.remove().run();
    }
  }

  @Test
  void ownersTakeTurnsEachWithItsTasksInTheirOrder() {
    execute("large", "a1", "a2", "a3", "a4");
    execute("small", "b1");
    execute("middle", "c1", "c2");
    runAll();
    assertThat(done).containsExactly("a1", "a2", "b1", "c1", "a3", "c2", "a4");
    execute("small", "b2");
    runAll();
    assertThat(done).endsWith("b2");
  }

  @Test
  void aTaskThatFailsDoesNotStopTheOthers() {
    tasks.execute(
        "large",
        () -> {
          throw new IllegalStateException("as planned");
        });
    execute("small", "b1");
    assertThatThrownBy(() -> given.remove().run()).isInstanceOf(IllegalStateException.class);
    runAll();
    assertThat(done).containsExactly("b1");
  }

  @Test
  void whenTheExecutorTakesNoMoreNothingWaits() {
    OneAtATime<String> closed =
        new OneAtATime<>(
            task -> {
              if (!given.isEmpty()) {
                throw new RejectedExecutionException();
              }
              given.add(task);
            });
    closed.execute("large", () -> done.add("a1"));
    closed.execute("large", () -> done.add("a2"));
    closed.execute("small", () -> done.add("b1"));
    given.peek().run();
    assertThat(done).containsExactly("a1");
    assertThatThrownBy(() -> closed.execute("large", () -> done.add("a3")))
        .isInstanceOf(RejectedExecutionException.class);
    given.clear(); // It takes tasks again.
    closed.execute("large", () -> done.add("a4"));
    given.remove().run();
    assertThat(done).containsExactly("a1", "a4");
    assertThat(given).isEmpty();
  }
}
