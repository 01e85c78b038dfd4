package io.stele.cli;

import io.stele.log.LogInspector;
import io.stele.model.SteleException;
import io.stele.sstable.SSTableDump;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code stele file}: looks into SSTables and commit log segments. Only reads; no server is needed.
 */
@Command(
    name = "file",
    description = "Inspect SSTables (.sst) and commit log segments (.log).",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(dump|verify)",
    footer = {
      "",
      "A path without a file system is on fs.defaultFS; file:///... is on this",
      "machine. Directories are searched recursively.",
      "",
      "Examples:",
      "  stele file verify /stele/tables",
      "  stele file dump /stele/tables/t1/0123456789abcdef/1-1.sst --cells",
      "  stele file dump file:///tmp/copy-of-a.log"
    })
final class FileCommand {
  private static final String SSTABLE = ".sst";
  private static final String LOG = ".log";

  @Spec private CommandSpec spec;

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  @Command(
      name = "dump",
      description = "Show the contents of a file, and any damage.",
      mixinStandardHelpOptions = true,
      footer = {"", "Reads past damage where it can. Exits with 7 if a file is damaged."})
  int dump(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "PATH", arity = "1..*") List<String> paths,
      @Option(names = "--cells", description = "Show every cell of an SSTable, one per line.")
          boolean cells)
      throws Exception {
    Configuration conf = cluster.configuration();
    int damaged = 0;
    for (Path file : files(conf, paths)) {
      FileSystem fs = file.getFileSystem(conf);
      if (paths.size() > 1) {
        out().println(file + ":");
      }
      boolean sound;
      if (file.getName().endsWith(SSTABLE)) {
        FileStatus before = fs.getFileStatus(file);
        List<SSTableDump.Problem> problems = SSTableDump.dump(fs, file, cells, out());
        problems.forEach(
            problem ->
                out().println("damaged at offset " + problem.offset() + ": " + problem.detail()));
        boolean unfinished = !problems.isEmpty() && VerifiedFile.isBeingWritten(fs, before);
        if (unfinished) {
          out().println("it is being written: that it is not whole is no damage");
        }
        sound = problems.isEmpty() || unfinished;
      } else {
        sound = LogInspector.dump(fs, file, out()::println).sound();
      }
      damaged += sound ? 0 : 1;
    }
    out().flush();
    return damaged == 0 ? ExitCode.DONE.number() : ExitCode.CORRUPTION.number();
  }

  @Command(
      name = "verify",
      description = "Check every checksum of a file, or of all files in a directory.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Exits with 7 if a file is damaged or cannot be read, with 3 if there is none.",
        "Files that are deleted meanwhile, as compactions do, are only counted. An",
        "SSTable that is being written is unfinished, which is no damage. Nor is a",
        "torn tail of a log: any crash can leave one."
      })
  int verify(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "PATH", arity = "1..*") List<String> paths)
      throws Exception {
    Configuration conf = cluster.configuration();
    List<Path> files = files(conf, paths);
    if (files.isEmpty()) {
      throw SteleException.notFound(
          "no " + SSTABLE + " or " + LOG + " file in " + String.join(", ", paths));
    }
    Map<VerifiedFile.Outcome, Integer> counts = new EnumMap<>(VerifiedFile.Outcome.class);
    for (Path file : files) {
      VerifiedFile verified =
          VerifiedFile.of(file.getFileSystem(conf), file, file.getName().endsWith(LOG));
      counts.merge(verified.outcome(), 1, Integer::sum);
      if (verified.outcome() != VerifiedFile.Outcome.GONE) {
        out().println(String.format("%-11s", verified.outcome()) + file + verified.note());
        verified.problems().forEach(problem -> out().println("           " + problem));
      }
    }
    int unreadable = counts.getOrDefault(VerifiedFile.Outcome.UNREADABLE, 0);
    int unfinished = counts.getOrDefault(VerifiedFile.Outcome.UNFINISHED, 0);
    int gone = counts.getOrDefault(VerifiedFile.Outcome.GONE, 0);
    int damaged = counts.getOrDefault(VerifiedFile.Outcome.DAMAGED, 0);
    out()
        .println(
            counts.getOrDefault(VerifiedFile.Outcome.SOUND, 0)
                + " sound, "
                + damaged
                + " damaged"
                + (unreadable > 0 ? ", " + unreadable + " unreadable" : "")
                + (unfinished > 0 ? ", " + unfinished + " being written" : "")
                + (gone > 0 ? ", " + gone + " deleted meanwhile" : ""));
    return damaged + unreadable == 0 ? ExitCode.DONE.number() : ExitCode.CORRUPTION.number();
  }

  private static List<Path> files(Configuration conf, List<String> paths) throws IOException {
    List<Path> files = new ArrayList<>();
    for (String text : paths) {
      Path path = new Path(text);
      FileSystem fs = path.getFileSystem(conf);
      FileStatus status;
      try {
        status = fs.getFileStatus(path);
      } catch (FileNotFoundException e) {
        throw new SteleException(
            SteleException.Code.NOT_FOUND, "no such file: " + fs.makeQualified(path), e);
      }
      if (status.isFile()) {
        if (!isOurs(path)) {
          throw SteleException.refused(
              path
                  + " ends in neither "
                  + SSTABLE
                  + " nor "
                  + LOG
                  + ": only SSTables and log segments can be read");
        }
        files.add(status.getPath());
      } else {
        addAll(fs, status.getPath(), files);
      }
    }
    return files;
  }

  /** Adds the files below a directory. One below it may be deleted at any time. */
  private static void addAll(FileSystem fs, Path directory, List<Path> files) throws IOException {
    FileStatus[] found;
    try {
      found = fs.listStatus(directory);
    } catch (FileNotFoundException e) {
      return; // Nothing is left to look at.
    }
    for (FileStatus each : found) {
      if (each.isDirectory()) {
        addAll(fs, each.getPath(), files);
      } else if (isOurs(each.getPath())) {
        files.add(each.getPath());
      }
    }
  }

  private static boolean isOurs(Path path) {
    return path.getName().endsWith(SSTABLE) || path.getName().endsWith(LOG);
  }
}
