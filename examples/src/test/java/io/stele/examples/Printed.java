package io.stele.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ToolRunner;

/** Runs examples as their processes do, and gives what they print. */
public final class Printed {
  private Printed() {}

  /** What {@code program} prints to standard output; it must end well. */
  public static String by(Example program, Configuration conf, String... args) throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      assertThat(ToolRunner.run(conf, program, args)).isZero();
    } finally {
      System.setOut(before);
    }
    String text = printed.toString(StandardCharsets.UTF_8);
    System.out.print(text);
    return text;
  }
}
