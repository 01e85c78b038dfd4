package io.stele.examples;

import io.stele.model.SteleException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * A program with a few arguments; {@code --help} describes them. Exits with 0 if it is done, with 1
 * if it failed, and with 2 for arguments that it does not take. Why it failed is one line of text.
 */
public abstract class Program extends Configured implements Tool {
  /** The arguments are not what the program takes. */
  protected static final class WrongUsage extends RuntimeException {
    private static final long serialVersionUID = 1;

    public WrongUsage(String why) {
      super(why);
    }
  }

  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  /** What it takes and does; begins with the program's name. */
  protected abstract String usage();

  /**
   * Does its work.
   *
   * @throws WrongUsage if it does not take these arguments
   */
  protected abstract void work(List<String> arguments) throws Exception;

  @Override
  public final int run(String[] args) throws Exception {
    List<String> arguments = List.of(args);
    if (arguments.contains("--help") || arguments.contains("-h")) {
      System.out.print(usage());
      return 0;
    }
    try {
      work(arguments);
      return 0;
    } catch (WrongUsage e) {
      System.err.print(name() + ": " + e.getMessage() + "\n\n" + usage());
      return WRONG_USAGE;
    } catch (UncheckedIOException e) {
      return failed(Objects.requireNonNull(e.getCause()));
    } catch (SteleException | IOException e) {
      return failed(e);
    }
  }

  private int failed(Exception why) {
    System.err.println(name() + ": " + Objects.requireNonNullElse(why.getMessage(), why));
    return FAILED;
  }

  private String name() {
    return usage().split(" ", 2)[0];
  }

  /** Runs it over the cluster of stele-site.xml; returns what the process exits with. */
  protected final int run(List<String> args) throws Exception {
    Configuration conf = new Configuration();
    conf.addResource("stele-site.xml");
    return ToolRunner.run(conf, this, args.toArray(String[]::new));
  }

  /** Runs {@code program} as a process. */
  protected static void main(Program program, String[] args) throws Exception {
    System.exit(program.run(List.of(args)));
  }

  /** The whole number that {@code argument} says. */
  protected static long number(String argument) {
    try {
      return Long.parseLong(argument);
    } catch (NumberFormatException e) {
      throw new WrongUsage(argument + " is not a whole number");
    }
  }

  /**
   * Runs a job to its end, and logs how far it is.
   *
   * @throws IOException if it fails
   */
  protected static Job complete(Job job) throws Exception {
    if (!job.waitForCompletion(true)) {
      throw new IOException("job " + job.getJobName() + " failed; its log says why");
    }
    return job;
  }
}
