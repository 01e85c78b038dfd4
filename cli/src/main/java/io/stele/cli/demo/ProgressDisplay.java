package io.stele.cli.demo;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.SystemRuntime;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Shows how far the demo is. On a terminal the last line changes in place; elsewhere there is a
 * line now and then, so that a log of it reads well too. Throws what the output throws: {@link
 * java.io.UncheckedIOException} if it cannot be written.
 *
 * <p>Safe for use by several threads.
 */
final class ProgressDisplay {
  private static final int BAR_CHARS = 24;
  private static final int TITLE_CHARS = 26;
  private static final Duration QUIET_MAX = Duration.ofSeconds(10);

  private final PrintWriter out;
  private final boolean terminal;
  private final int width;
  private final int steps;

  @GuardedBy("this")
  private final List<Step> done = new ArrayList<>();

  @GuardedBy("this")
  private String title = "";

  @GuardedBy("this")
  private long startedNanos;

  @GuardedBy("this")
  private long shownNanos;

  @GuardedBy("this")
  private String shown = "";

  @GuardedBy("this")
  private boolean ended;

  /**
   * A finished step.
   *
   * @param title what it was
   * @param time how long it took
   */
  record Step(String title, Duration time) {}

  /**
   * @param terminal whether lines can be changed in place
   * @param width the terminal's, in characters
   * @param steps how many there will be
   */
  ProgressDisplay(PrintWriter out, boolean terminal, int width, int steps) {
    this.out = out;
    this.terminal = terminal;
    this.width = width;
    this.steps = steps;
  }

  /** Begins a step. */
  synchronized void begin(String newTitle) {
    title = newTitle;
    startedNanos = SystemRuntime.INSTANCE.nanoTime();
    shownNanos = startedNanos;
    shown = "";
    if (terminal) {
      show("");
    } else {
      out.println(head().stripTrailing());
    }
  }

  /** Says what goes on in the step. */
  synchronized void say(String what) {
    if (terminal) {
      show(what);
    } else if (!what.equals(shown)) {
      quietly(what);
    }
    shown = what;
  }

  /** Says how far the step is, {@code fraction} of 1. */
  synchronized void say(double fraction, String what) {
    int full = (int) Math.round(Math.min(1, Math.max(0, fraction)) * BAR_CHARS);
    String percent = String.format(Locale.ROOT, "%3d %%", (int) Math.floor(fraction * 100));
    if (terminal) {
      show("[" + "#".repeat(full) + ".".repeat(BAR_CHARS - full) + "] " + percent + "  " + what);
    } else {
      quietly(percent + "  " + what);
    }
  }

  /** Ends the step with what came of it. */
  synchronized void end(String result) {
    Duration time = elapsed();
    String line = String.format(Locale.ROOT, "%6.1f s  %s", time.toMillis() / 1000.0, result);
    // Elsewhere than on a terminal the title is in a line above.
    out.println(terminal ? "\r\033[K" + head() + line : "     " + line);
    out.flush();
    done.add(new Step(title, time));
    title = "";
  }

  /** Gives the line up, so that others may write. Nothing is shown after it. */
  synchronized void close() {
    if (terminal && !title.isEmpty() && !ended) {
      out.print("\r\033[K");
      out.flush();
    }
    ended = true;
  }

  /** The step under way; empty: none. */
  synchronized String title() {
    return title;
  }

  /** The finished steps. */
  synchronized List<Step> done() {
    return List.copyOf(done);
  }

  @GuardedBy("this")
  private String head() {
    int number = done.size() + 1;
    return String.format(Locale.ROOT, "%d/%d  %-" + TITLE_CHARS + "s", number, steps, title);
  }

  @GuardedBy("this")
  private Duration elapsed() {
    return Duration.ofNanos(SystemRuntime.INSTANCE.nanoTime() - startedNanos);
  }

  @GuardedBy("this")
  private void quietly(String what) {
    if (!ended && SystemRuntime.INSTANCE.nanoTime() - shownNanos > QUIET_MAX.toNanos()) {
      shownNanos = SystemRuntime.INSTANCE.nanoTime();
      out.println("       " + elapsed().toSeconds() + " s: " + what.strip());
      out.flush();
    }
  }

  @GuardedBy("this")
  private void show(String what) {
    if (!ended) {
      String line = head() + String.format(Locale.ROOT, "%4d s    %s", elapsed().toSeconds(), what);
      out.print("\r\033[K" + (line.length() < width ? line : line.substring(0, width - 1)));
      out.flush();
    }
  }
}
