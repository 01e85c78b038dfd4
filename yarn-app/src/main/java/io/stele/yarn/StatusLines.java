package io.stele.yarn;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** Turns statuses of an application into lines for people, each said once. For one thread. */
final class StatusLines {
  private final Consumer<String> progress;
  private final Map<String, String> said = new HashMap<>();

  StatusLines(Consumer<String> progress) {
    this.progress = progress;
  }

  /** Says what has changed since the last status. */
  void show(ApplicationStatus status) {
    say("", status.id() + " is " + status.state());
    for (ComponentStatus component : status.components()) {
      String where = component.node().isEmpty() ? "" : " on " + component.node();
      say(
          component.id() + component.container(),
          component.id() + " is " + component.state().toLowerCase(Locale.ROOT) + where);
    }
  }

  private void say(String subject, String line) {
    if (!line.equals(said.put(subject, line))) {
      progress.accept(line);
    }
  }
}
