package io.stele.cli;

import io.stele.client.RowTooLargeException;
import io.stele.model.SteleException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/** Prints why a command failed: one to three lines, and a stack trace only on request. */
final class Failures {
  private static final int CAUSES_MAX = 2;

  private Failures() {}

  /** Reports {@code failure} and returns the exit code that tells of it. */
  static int report(Throwable failure, CommandLine command) {
    PrintWriter err = command.getErr();
    Throwable known = unwrapped(failure);
    if (known instanceof StandardOutput.ClosedException) {
      return ExitCode.of(known).number(); // Whoever ended the reader knows.
    }
    lines(known).forEach(err::println);
    boolean stacktrace = command.getParseResult() != null && wantsStacktrace(command);
    if (stacktrace) {
      failure.printStackTrace(err);
    } else if (!(known instanceof SteleException)) {
      err.println("(use --stacktrace to see the stack trace, --verbose to see the log)");
    }
    return ExitCode.of(known).number();
  }

  static List<String> lines(Throwable failure) {
    List<String> lines = new ArrayList<>();
    lines.add("stele: " + text(failure));
    if (!(failure instanceof SteleException)) {
      // Hadoop wraps: the reason is often in the cause alone.
      Throwable cause = failure.getCause();
      for (int i = 0; i < CAUSES_MAX && cause != null; i++, cause = cause.getCause()) {
        if (cause.getMessage() != null && !lines.get(0).contains(firstLine(cause.getMessage()))) {
          lines.add("  because: " + text(cause));
        }
      }
    }
    return lines;
  }

  private static String text(Throwable failure) {
    String message = failure.getMessage();
    if (failure instanceof RowTooLargeException large) {
      return "row \""
          + large.row()
          + "\" is larger than this command reads with its memory: give it more, such as"
          + " STELE_OPTS=-Xmx2g, or read fewer columns or versions";
    }
    if (failure instanceof OutOfMemoryError) {
      return "this command has not enough memory, "
          + TextTable.size(Runtime.getRuntime().maxMemory())
          + " for Java: give it more, such as STELE_OPTS=-Xmx2g, or ask for less at once";
    }
    if (failure instanceof SteleException && message != null) {
      return message;
    }
    String name = failure.getClass().getSimpleName();
    if (message == null || message.isBlank()) {
      return name;
    }
    boolean plain =
        failure.getClass() == java.io.IOException.class
            || failure instanceof io.stele.lock.UnreachableException
            || failure instanceof io.stele.model.CorruptionException;
    return plain ? firstLine(message) : name + ": " + firstLine(message);
  }

  private static String firstLine(String message) {
    return message.strip().lines().findFirst().orElse("");
  }

  private static Throwable unwrapped(Throwable failure) {
    boolean wraps =
        failure instanceof UncheckedIOException
            || failure instanceof CommandLine.ExecutionException; // An Error of a subcommand.
    return wraps && failure.getCause() != null ? failure.getCause() : failure;
  }

  private static boolean wantsStacktrace(CommandLine command) {
    return command.getCommandSpec().mixins().values().stream()
        .anyMatch(
            mixin -> mixin.userObject() instanceof ClusterOptions options && options.stacktrace());
  }
}
