package io.stele.cli;

import io.stele.client.Stele;
import io.stele.mapreduce.RecordMapping;
import io.stele.mapreduce.jobs.CompareTables;
import io.stele.mapreduce.jobs.CopyTable;
import io.stele.mapreduce.jobs.CountRows;
import io.stele.mapreduce.jobs.ExportAvro;
import io.stele.mapreduce.jobs.ImportAvro;
import io.stele.mapreduce.jobs.ImportText;
import io.stele.mapreduce.jobs.TableInput;
import io.stele.mapreduce.jobs.TableJob;
import io.stele.mapreduce.jobs.TableOutput;
import io.stele.mapreduce.jobs.TableStatistics;
import io.stele.mapreduce.jobs.VerifyTable;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele job}: MapReduce jobs over tables, and the jobs that the cluster knows. */
@Command(
    name = "job",
    description = "Run a MapReduce job over tables, or list, kill and end jobs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel =
        "(count | stats | copy | compare | verify | export-avro | import-avro | import-text | list"
            + " | kill | end)",
    subcommands = {JobListCommand.class, JobKillCommand.class, JobEndCommand.class},
    footer = {
      "",
      "Examples:",
      "  stele job count webtable",
      "  stele job stats webtable --prefix com.",
      "  stele job copy webtable webtable-2026 --dry-run   (both tables exist)",
      "  stele job compare webtable webtable-2026",
      "  stele job verify webtable",
      "  stele job export-avro webtable /exports/webtable",
      "  stele job import-text webtable /data/pages.csv --format csv \\",
      "    --fields ROW,language:,contents:",
      "  stele job list                       what the cluster keeps for jobs",
      "",
      "Next: stele job copy --help shows the options of one of them"
    })
final class JobCommand {
  /** What jobs read. */
  static final class Input {
    @Mixin private ColumnOptions columns;
    @Mixin private RangeOptions range;
    @Mixin private TimeOptions times;

    @Option(
        names = "--versions",
        paramLabel = "N|all",
        converter = OptionValue.Versions.class,
        description =
            "Read at most this many versions of each column, newest first (default: all).")
    private int versions = Integer.MAX_VALUE;

    TableInput of(String table, CommandSpec spec) {
      RowQuery query =
          RowQuery.ALL
              .range(range.of(spec.commandLine()))
              .times(times.of(spec.commandLine()))
              .versions(versions);
      return new TableInput(table, columns.restrict(query));
    }
  }

  @Spec private CommandSpec spec;

  private CommandSpec sub(String name) {
    return Objects.requireNonNull(spec.commandLine().getSubcommands().get(name)).getCommandSpec();
  }

  private int run(ClusterOptions cluster, TableJob job) throws Exception {
    return run(cluster.configuration(), cluster, job);
  }

  /** The same, for a job that reads {@code files}. */
  private int run(ClusterOptions cluster, TableJob job, Path files) throws Exception {
    Configuration conf = cluster.configuration();
    JobInput.require(files, conf);
    return run(conf, cluster, job);
  }

  private int run(Configuration conf, ClusterOptions cluster, TableJob job) throws Exception {
    try (Stele stele = cluster.connect(conf)) { // Says within seconds that the cluster is stopped.
      stele.admin().clusterStatus(); // Submitting waits for the master, too, but does not say so.
    }
    return new JobRun(spec.commandLine()).run(job, conf);
  }

  @Command(
      name = "count",
      description = "Count rows, cells and bytes.",
      mixinStandardHelpOptions = true,
      footer = {"", "Example:", "  stele job count webtable -c anchor --prefix com."})
  int count(
      @Mixin ClusterOptions cluster,
      @Mixin Input input,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table)
      throws Exception {
    return run(cluster, new CountRows(input.of(table, spec)));
  }

  @Command(
      name = "stats",
      description = "Show the contents of a table by family, and where most bytes are.",
      mixinStandardHelpOptions = true,
      footer = {"", "Example:", "  stele job stats webtable --prefix-bytes 12"})
  int stats(
      @Mixin ClusterOptions cluster,
      @Mixin Input input,
      @Option(
              names = "--prefix-bytes",
              paramLabel = "N",
              defaultValue = "8",
              converter = OptionValue.Count.class,
              description = "Group the rows whose keys begin with the same N bytes (default: 8).")
          int prefixBytes,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table)
      throws Exception {
    return run(cluster, new TableStatistics(input.of(table, spec), prefixBytes));
  }

  @Command(
      name = "copy",
      description =
          "Copy cells with their timestamps to another table, as of the time when the job is"
              + " submitted.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Example:",
        "  stele job copy webtable webtable-2026 -c anchor",
        "  stele job copy webtable webtable-2026 --prefix com. --replace --yes",
        "",
        "Next: stele job compare tells whether the tables are the same."
      })
  int copy(
      @Mixin ClusterOptions cluster,
      @Mixin Input input,
      @Mixin Output output,
      @Parameters(paramLabel = "TABLE", description = "The table that is read.") String table,
      @Parameters(paramLabel = "TO", description = "The table that is written.") String to)
      throws Exception {
    return run(cluster, new CopyTable(input.of(table, spec), output.to(to, sub("copy"))));
  }

  @Command(
      name = "compare",
      description = "Compare two tables, cell by cell. Exits with 9 if they differ.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Both tables are read as they are when the job is submitted, each tablet as of",
        "one moment during the submission. So a row that is written during the",
        "submission may differ only because of that.",
        "",
        "Example:",
        "  stele job compare webtable webtable-2026 --prefix com."
      })
  int compare(
      @Mixin ClusterOptions cluster,
      @Mixin Input input,
      @Parameters(paramLabel = "TABLE", description = "The first table.") String table,
      @Parameters(paramLabel = "WITH", description = "The second table.") String with)
      throws Exception {
    return run(cluster, new CompareTables(input.of(table, spec), with));
  }

  @Command(
      name = "verify",
      description =
          "Check every block of a table's files, and that tablet servers return the rows in"
              + " them. Exits with 7 if anything is damaged.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Reads the table as of the time when the job is submitted, twice from its files",
        "and once from its servers. The job's user needs permission to read the files.",
        "",
        "Example:",
        "  stele job verify webtable",
        "",
        "Next: stele file dump shows what can still be read of a damaged file."
      })
  int verify(
      @Mixin ClusterOptions cluster,
      @Mixin RangeOptions range,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table)
      throws Exception {
    return run(cluster, new VerifyTable(table, range.of(spec.commandLine())));
  }

  @Command(
      name = "export-avro",
      description = "Write rows to Avro container files.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Examples:",
        "  stele job export-avro webtable /exports/webtable",
        "  stele job export-avro webtable /exports/pages --schema page.avsc \\",
        "    --dry-run",
        "",
        "Next: docs/mapreduce.md says how a schema names columns."
      })
  int exportAvro(
      @Mixin ClusterOptions cluster,
      @Mixin Input input,
      @Mixin Records records,
      @Option(
              names = "--dry-run",
              description = "Show how much would be written, but write nothing.")
          boolean dryRun,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table,
      @Parameters(paramLabel = "DIR", description = "The directory to write; it must not exist.")
          Path directory)
      throws Exception {
    return run(
        cluster, new ExportAvro(input.of(table, spec), directory, records.mapping(), dryRun));
  }

  @Command(
      name = "import-avro",
      description = "Write the rows of Avro container files to a table, with their timestamps.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Examples:",
        "  stele job import-avro /exports/webtable webtable-2026",
        "  stele job import-avro /data/pages webtable --schema page.avsc",
        "",
        "Next: docs/mapreduce.md says how a schema names columns."
      })
  int importAvro(
      @Mixin ClusterOptions cluster,
      @Mixin Output output,
      @Mixin Records records,
      @Parameters(
              paramLabel = "DIR",
              description = "The directory of the files, as export-avro writes them.")
          Path directory,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table)
      throws Exception {
    return run(
        cluster,
        new ImportAvro(directory, output.to(table, sub("import-avro")), records.mapping()),
        directory);
  }

  @Command(
      name = "import-text",
      description = "Write lines of text to a table: one row per line, one column per field.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Empty fields are skipped. With --format csv a field may be in quotes, and then",
        "contain the separator, and \"\" for a quote, but no line break: a record is one",
        "line. A wrong quote always fails the job, also with --skip-bad-lines. Without",
        "--format quotes mean nothing, and a field cannot contain the separator.",
        "",
        "FILES are in the cluster's file system: copy those of this machine there first",
        "(hdfs dfs -put), or name them as file:///... if every node has them there. On",
        "the demo, which is one machine, file:///... always works.",
        "",
        "Examples:",
        "  stele job import-text webtable /data/pages.tsv \\",
        "    --fields ROW,language:,-,contents:",
        "  stele job import-text webtable /data/pages.csv --format csv \\",
        "    --fields ROW,language:,-,contents:"
      })
  int importText(
      @Mixin ClusterOptions cluster,
      @Mixin Output output,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table,
      @Parameters(paramLabel = "FILES", description = "A file, a directory or a glob.") Path files,
      @Mixin Lines lines)
      throws Exception {
    return run(cluster, lines.of(files, output.to(table, sub("import-text"))), files);
  }

  /** How lines of text are read. */
  static final class Lines {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
        names = "--fields",
        paramLabel = "FIELD",
        split = ",",
        required = true,
        description = "What each field is: ROW once, FAMILY:QUALIFIER, or - to skip it.")
    private List<String> fields = List.of();

    @Option(
        names = "--format",
        paramLabel = "FORMAT",
        defaultValue = "plain",
        description = {
          "How fields are written: plain, or csv, where they may be in quotes",
          "(default: plain)."
        })
    private ImportText.Format format = ImportText.Format.PLAIN;

    @Option(
        names = "--separator",
        paramLabel = "CHAR",
        description = "The separator between fields (default: a tab; with csv, a comma).")
    private Optional<Character> separator = Optional.empty();

    @Option(
        names = "--skip-bad-lines",
        description = "Skip lines with a different number of fields, or without a valid row key.")
    private boolean skip;

    ImportText of(Path files, TableOutput into) {
      char between = separator.orElse(format == ImportText.Format.CSV ? ',' : '\t');
      try {
        return new ImportText(files, into, fields, between, skip, format);
      } catch (SteleException wrong) {
        throw new ParameterException(command.commandLine(), wrong.getMessage(), wrong);
      }
    }
  }

  /** What records are in files. */
  static final class Records {
    @Option(
        names = "--schema",
        paramLabel = "FILE",
        description =
            "The files have records of this Avro schema, whose properties \"stele\" say where"
                + " each field is in a row (default: whole rows).")
    private Optional<java.nio.file.Path> schema = Optional.empty();

    Optional<RecordMapping<GenericRecord>> mapping() throws IOException {
      if (schema.isEmpty()) {
        return Optional.empty();
      }
      java.nio.file.Path file = schema.get();
      if (!Files.isReadable(file) || Files.isDirectory(file)) {
        throw SteleException.notFound(
            "--schema " + file + ": there is no file that can be read there");
      }
      return Optional.of(RecordMapping.parse(Files.readString(file)));
    }
  }

  /** How a job writes. */
  static final class Output {
    @Option(
        names = "--dry-run",
        description = "Show what would be written and replaced, but write nothing.")
    private boolean dryRun;

    @Option(
        names = "--replace",
        description =
            "Replace the present contents atomically when the job succeeds: all cells of the table,"
                + " or of the copied rows, also in columns that are not written. Needs --yes.")
    private boolean replace;

    @Option(names = "--yes", description = "Confirm the replacement of what is there.")
    private boolean sure;

    TableOutput to(String table, CommandSpec job) {
      if (replace && !dryRun && !sure) {
        throw new ParameterException(
            job.commandLine(),
            "--replace deletes what table "
                + table
                + " has, also in columns that are not written: look first with --dry-run, then add"
                + " --yes to confirm");
      }
      return new TableOutput(table, dryRun, replace);
    }
  }
}
