package io.stele.mapreduce.jobs;

import io.stele.config.JobKeys;
import io.stele.inputformat.TableInputFormat;
import io.stele.inputformat.TableSplit;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Verifies linked lists, as they were when the job was submitted. Each row of the table is a node;
 * a column of it names the node before it, and is empty for the first. A second table has those
 * nodes whose writes were acknowledged. It holds that
 *
 * <ul>
 *   <li>every acknowledged node is there, as it was written;
 *   <li>every reference leads to a node that is there;
 *   <li>no two acknowledged nodes refer to the same one. Of others two may: a client writes a node
 *       anew, under another key, if it does not know what became of it.
 * </ul>
 *
 * @param table the lists
 * @param acknowledged the table of the acknowledged nodes
 * @param previous the column, in both tables
 */
public record VerifyLists(String table, String acknowledged, Column previous) implements TableJob {
  private static final String ACKNOWLEDGED_KEY = JobKeys.Internal.LISTS_ACKNOWLEDGED;

  /** How many findings the report names, and each task at most: the counter has all. */
  private static final int NAMED_MAX = 100;

  /** How many nodes a finding names that refer to the same one. */
  private static final int REFERRING_NAMED_MAX = 10;

  /** What was verified. */
  enum Counter {
    /** Nodes that are there. */
    NODES,
    /** Nodes whose writes were acknowledged. */
    ACKNOWLEDGED,
    /** What does not hold. */
    WRONG
  }

  @Override
  public Job prepare(Configuration conf) throws IOException {
    Job job = CompleteJob.create(conf, "verify the lists of table " + table);
    job.getConfiguration().set(TableInputFormat.MODE_KEY, "direct");
    job.getConfiguration().set(ACKNOWLEDGED_KEY, acknowledged);
    TableInput.addAll(
        job,
        List.of(
            new TableInput(table, RowQuery.ALL.column(previous)),
            new TableInput(acknowledged, RowQuery.ALL.column(previous))));
    job.setMapperClass(NodeMapper.class);
    job.setReducerClass(NodeReducer.class);
    job.setNumReduceTasks(Math.max(1, job.getNumReduceTasks())); // They find what is wrong.
    job.setMapOutputKeyClass(Bytes.class);
    job.setMapOutputValueClass(Text.class);
    JobDirectory.setOutput(job);
    return job;
  }

  @Override
  public Report report(Job finished) throws IOException {
    Counters counters = CompleteJob.counters(finished);
    long wrong = counters.findCounter(Counter.WRONG).getValue();
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%,d nodes of lists are there, %,d were acknowledged: %,d findings",
            counters.findCounter(Counter.NODES).getValue(),
            counters.findCounter(Counter.ACKNOWLEDGED).getValue(),
            wrong));
    List<String> named = JobDirectory.firstLines(finished, NAMED_MAX);
    lines.addAll(named);
    if (wrong > named.size()) {
      lines.add("... and more");
    }
    return new Report(wrong == 0 ? Verdict.GOOD : Verdict.DAMAGED, lines);
  }

  @Override
  public void cleanUp(Job job) throws IOException {
    JobDirectory.delete(job);
  }

  /** What is known of a node; of a reference to it, from which node that is. */
  private enum Fact {
    /** It is there, and refers to the other. */
    THERE,
    /** Its write was acknowledged, and refers to the other. */
    ACKNOWLEDGED,
    /** The other is there, and refers to it. */
    REFERRED_TO,
    /** The other was acknowledged, and refers to it. */
    REFERRED_TO_BY_ACKNOWLEDGED;

    Text with(Bytes other) {
      return new Text(ordinal() + other.toString());
    }

    static Fact of(Text text) {
      return values()[text.charAt(0) - '0'];
    }

    static String other(Text text) {
      return text.toString().substring(1);
    }
  }

  /** Says of each node what is known of it, and of the one before it that it is referred to. */
  static final class NodeMapper extends Mapper<Bytes, Row, Bytes, Text> {
    private boolean acknowledged;

    @Override
    protected void setup(Context context) {
      String table = ((TableSplit) context.getInputSplit()).table();
      acknowledged = table.equals(context.getConfiguration().get(ACKNOWLEDGED_KEY));
    }

    @Override
    protected void map(Bytes node, Row row, Context context)
        throws IOException, InterruptedException {
      context.getCounter(acknowledged ? Counter.ACKNOWLEDGED : Counter.NODES).increment(1);
      Bytes before = row.cells().get(0).value();
      context.write(node, (acknowledged ? Fact.ACKNOWLEDGED : Fact.THERE).with(before));
      if (!before.isEmpty()) {
        Fact referred = acknowledged ? Fact.REFERRED_TO_BY_ACKNOWLEDGED : Fact.REFERRED_TO;
        context.write(before, referred.with(node));
      }
    }
  }

  /** Puts together what is known of each node. */
  static final class NodeReducer extends Reducer<Bytes, Text, NullWritable, Text> {
    private int named;

    @Override
    protected void reduce(Bytes node, Iterable<Text> facts, Context context)
        throws IOException, InterruptedException {
      Optional<String> there = Optional.empty();
      Optional<String> written = Optional.empty();
      Nodes referring = new Nodes(REFERRING_NAMED_MAX);
      Nodes acknowledged = new Nodes(REFERRING_NAMED_MAX);
      for (Text text : facts) {
        String other = Fact.other(text);
        switch (Fact.of(text)) {
          case THERE -> there = Optional.of(other);
          case ACKNOWLEDGED -> written = Optional.of(other);
          case REFERRED_TO -> referring.add(other);
          case REFERRED_TO_BY_ACKNOWLEDGED -> acknowledged.add(other);
        }
      }
      if (written.isPresent() && there.isEmpty()) {
        name(context, "acknowledged node " + node + " is not there");
      } else if (written.isPresent() && !written.equals(there)) {
        String instead = "\" in place of \"" + written.get() + "\"";
        name(context, "node " + node + " refers to \"" + there.orElse("") + instead);
      }
      if (there.isEmpty() && referring.count() > 0) {
        name(context, "node " + node + " is not there, and is referred to by " + referring);
      }
      if (acknowledged.count() > 1) {
        name(context, "node " + node + " is before several acknowledged ones: " + acknowledged);
      }
    }

    private void name(Context context, String finding) throws IOException, InterruptedException {
      context.getCounter(Counter.WRONG).increment(1);
      if (named < NAMED_MAX) {
        named++;
        context.write(NullWritable.get(), new Text(finding));
      }
    }
  }

  /** Nodes, of which the first are named: any number may refer to one. Not thread safe. */
  static final class Nodes {
    private final int namedMax;
    private final TreeSet<String> first = new TreeSet<>();
    private long count;

    /** No nodes; at most {@code namedMax} will be named. */
    Nodes(int namedMax) {
      this.namedMax = namedMax;
    }

    void add(String node) {
      count++;
      first.add(node);
      if (first.size() > namedMax) {
        first.pollLast();
      }
    }

    long count() {
      return count;
    }

    @Override
    public String toString() {
      long more = count - first.size();
      return String.join(", ", first) + (more > 0 ? " and " + more + " more" : "");
    }
  }
}
