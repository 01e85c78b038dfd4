package io.stele.examples;

import io.stele.client.Stele;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** A program of a few commands, each with a few arguments. */
public abstract class Example extends Program {
  /** What a command does, on a cluster. */
  @FunctionalInterface
  protected interface Work {
    /** Does it. */
    void on(Stele stele) throws Exception;
  }

  /** One of the commands. */
  @FunctionalInterface
  protected interface Command {
    /**
     * What it does with these arguments. They are read here, before a cluster is asked.
     *
     * @throws WrongUsage if it does not take them
     */
    Work of(List<String> arguments);
  }

  /** The commands by their names. */
  protected abstract Map<String, Command> commands();

  @Override
  protected final void work(List<String> words) throws Exception {
    if (words.isEmpty()) {
      throw new WrongUsage("which command?");
    }
    Command command = commands().get(words.get(0));
    if (command == null) {
      throw new WrongUsage("there is no command " + words.get(0));
    }
    Work work = command.of(words.subList(1, words.size()));
    try (Stele stele = Stele.connect(getConf())) {
      work.on(stele);
    }
  }

  /** The argument at {@code index}, a whole number; {@code otherwise} if it was not given. */
  protected static long number(List<String> arguments, int index, long otherwise) {
    return index < arguments.size() ? number(arguments.get(index)) : otherwise;
  }

  /** Makes a table unless there is one of its name. */
  protected static void createIfMissing(Stele stele, TableSchema schema) throws IOException {
    if (stele.admin().listTables().stream().noneMatch(t -> t.name().equals(schema.name()))) {
      stele.admin().createTable(schema);
    }
  }
}
