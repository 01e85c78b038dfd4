package io.stele.yarn;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Turns statuses of an application into lines for people, each said once. For one thread. */
final class StatusLines {
  private static final Pattern CONTAINER = Pattern.compile("container_\\w+");

  private final Consumer<String> progress;
  private final Map<String, String> said = new HashMap<>();
  private final Map<String, Integer> restarts = new HashMap<>();

  StatusLines(Consumer<String> progress) {
    this.progress = progress;
  }

  /** Says what has changed since the last status. */
  void show(ApplicationStatus status) {
    say("", status.id() + " is " + status.state());
    for (ComponentStatus component : status.components()) {
      tellFailure(status, component);
      String where = component.node().isEmpty() ? "" : " on " + component.node();
      say(
          component.id() + component.container(),
          component.id() + " is " + component.state().toLowerCase(Locale.ROOT) + where);
    }
  }

  /** Says only which components have failed since the last status. */
  void showFailures(ApplicationStatus status) {
    status.components().forEach(component -> tellFailure(status, component));
  }

  private void tellFailure(ApplicationStatus status, ComponentStatus component) {
    if (failed(component)) {
      progress.accept(failure(status, component));
    }
  }

  /** Whether it has ended unasked since the last status. */
  private boolean failed(ComponentStatus component) {
    Integer before = restarts.put(component.id(), component.restarts());
    return before != null && component.restarts() > before && !component.lastExit().isEmpty();
  }

  /** How it ended, how often it has, and where its logs are. */
  static String failure(ApplicationStatus status, ComponentStatus component) {
    Matcher container = CONTAINER.matcher(component.lastExit());
    return component.id()
        + " "
        + component.lastExit()
        + (component.restarts() > 1 ? "; it has ended " + component.restarts() + " times" : "")
        + (container.find()
            ? "; its logs: yarn logs -applicationId "
                + status.id()
                + " -containerId "
                + container.group()
            : "");
  }

  private void say(String subject, String line) {
    if (!line.equals(said.put(subject, line))) {
      progress.accept(line);
    }
  }
}
