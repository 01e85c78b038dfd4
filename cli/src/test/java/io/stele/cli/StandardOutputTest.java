package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class StandardOutputTest {
  /** Prints without an end, as a scan of a large table does. */
  @Command(name = "endless")
  static final class Endless implements Runnable {
    @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

    @Override
    public void run() {
      while (true) {
        spec.commandLine().getOut().println("line");
      }
    }
  }

  /** Needs more memory than there is. */
  @Command(name = "greedy")
  static final class Greedy implements Runnable {
    @Override
    public void run() {
      throw new OutOfMemoryError("Java heap space");
    }

    @Command(name = "nested")
    void nested() {
      throw new OutOfMemoryError("Java heap space");
    }
  }

  private static Ran run(String failure, String... words) {
    OutputStream failing =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            throw new IOException(failure);
          }
        };
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine();
    line.addSubcommand(new Endless());
    line.addSubcommand(new Greedy());
    line.setOut(new StandardOutput(failing).printer()).setErr(new PrintWriter(err, true));
    return new Ran(Main.run(line, words), "", err.toString());
  }

  @Test
  void outputThatCannotBeWrittenIsAFailure() {
    for (String[] words : new String[][] {{"endless"}, {"--help"}, {"conf"}, {"help", "scan"}}) {
      Ran ran = run("No space left on device", words);
      assertThat(ran.exit()).isEqualTo(ExitCode.FAILED.number());
      assertThat(ran.err())
          .startsWith("stele: cannot write standard output: No space left on device\n");
    }
  }

  @Test
  void theDemoStartsNothingWhereItsOutputCannotBeWritten(@TempDir Path directory)
      throws IOException {
    Path pages = Files.createFile(directory.resolve("pages.jar"));
    Ran ran =
        run(
            "No space left on device",
            "demo",
            "-v",
            "--dir",
            directory.resolve("demo").toString(),
            "--pages",
            pages.toString());
    assertThat(ran.exit()).isEqualTo(ExitCode.FAILED.number());
    assertThat(ran.err())
        .startsWith("stele: cannot write standard output: No space left on device\n");
  }

  @Test
  void whoeverEndsTheReaderIsToldNothing() {
    for (String[] words : new String[][] {{"endless"}, {"--help"}}) {
      assertThat(run("Broken pipe", words))
          .isEqualTo(new Ran(ExitCode.OUTPUT_CLOSED.number(), "", ""));
    }
  }

  @Test
  void tooLittleMemoryIsSaidPlainly() {
    for (String[] words : new String[][] {{"greedy"}, {"greedy", "nested"}}) {
      Ran ran = run("", words);
      assertThat(ran.exit()).isEqualTo(ExitCode.FAILED.number());
      assertThat(ran.err()).contains("not enough memory", "STELE_OPTS=-Xmx2g");
    }
  }
}
