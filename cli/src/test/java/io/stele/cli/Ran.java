package io.stele.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;

/** What a command came to that was run in this process. */
record Ran(int exit, String out, String err) {
  /** Runs a command. */
  static Ran of(List<String> words) {
    return of(Main.commandLine(), words);
  }

  /** Runs a command of {@code commands}. */
  static Ran of(CommandLine commands, List<String> words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exit =
        commands
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(words.toArray(String[]::new));
    return new Ran(exit, out.toString(), err.toString());
  }
}
