package io.stele.examples;

import io.stele.client.Stele;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** A program of a few commands, each with a few arguments; {@code --help} describes them. */
public abstract class Example extends Configured implements Tool {
  /** The arguments are not what the command takes. */
  protected static final class WrongUsage extends RuntimeException {
    private static final long serialVersionUID = 1;

    public WrongUsage(String why) {
      super(why);
    }
  }

  private static final int WRONG_USAGE = 2;

  /** All commands, with their arguments. */
  protected abstract String usage();

  /** One of the commands. */
  @FunctionalInterface
  protected interface Command {
    /**
     * Runs it.
     *
     * @throws WrongUsage if it does not take these arguments
     */
    void run(Stele stele, List<String> arguments) throws Exception;
  }

  /** The commands by their names. */
  protected abstract Map<String, Command> commands();

  @Override
  public final int run(String[] args) throws Exception {
    List<String> words = List.of(args);
    if (words.contains("--help") || words.contains("-h")) {
      System.out.print(usage());
      return 0;
    }
    try {
      if (words.isEmpty()) {
        throw new WrongUsage("which command?");
      }
      Command command = commands().get(words.get(0));
      if (command == null) {
        throw new WrongUsage("there is no command " + words.get(0));
      }
      try (Stele stele = Stele.connect(getConf())) {
        command.run(stele, words.subList(1, words.size()));
      }
      return 0;
    } catch (WrongUsage e) {
      System.err.print(e.getMessage() + "\n\n" + usage());
      return WRONG_USAGE;
    }
  }

  /** Runs the program as a process, over the cluster of stele-site.xml. */
  protected static void main(Example program, String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.addResource("stele-site.xml");
    System.exit(ToolRunner.run(conf, program, args));
  }

  /** The argument at {@code index}, a whole number; {@code otherwise} if it was not given. */
  protected static long number(List<String> arguments, int index, long otherwise) {
    try {
      return index < arguments.size() ? Long.parseLong(arguments.get(index)) : otherwise;
    } catch (NumberFormatException e) {
      throw new WrongUsage(arguments.get(index) + " is not a whole number");
    }
  }

  /** Makes a table unless there is one of its name. */
  protected static void createIfMissing(Stele stele, TableSchema schema) throws IOException {
    if (stele.admin().listTables().stream().noneMatch(t -> t.name().equals(schema.name()))) {
      stele.admin().createTable(schema);
    }
  }

  /**
   * Runs a job to its end.
   *
   * @throws IOException if it fails
   */
  protected static Job complete(Job job) throws Exception {
    if (!job.waitForCompletion(false)) {
      throw new IOException("job " + job.getJobName() + " failed; its log says why");
    }
    return job;
  }
}
