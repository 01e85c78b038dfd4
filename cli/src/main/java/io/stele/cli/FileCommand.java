package io.stele.cli;

import io.stele.log.LogInspector;
import io.stele.model.SteleException;
import io.stele.sstable.SSTableDump;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
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
        List<SSTableDump.Problem> problems = SSTableDump.dump(fs, file, cells, out());
        problems.forEach(
            problem ->
                out().println("damaged at offset " + problem.offset() + ": " + problem.detail()));
        sound = problems.isEmpty();
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
        "Exits with 7 if a file is damaged. A torn tail of a log is not damage: any",
        "crash can leave one."
      })
  int verify(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "PATH", arity = "1..*") List<String> paths)
      throws Exception {
    Configuration conf = cluster.configuration();
    int damaged = 0;
    int sound = 0;
    for (Path file : files(conf, paths)) {
      FileSystem fs = file.getFileSystem(conf);
      List<String> problems = new ArrayList<>();
      String note = "";
      if (file.getName().endsWith(SSTABLE)) {
        SSTableDump.verify(fs, file)
            .forEach(
                problem -> problems.add("offset " + problem.offset() + ": " + problem.detail()));
      } else {
        LogInspector.Report report = LogInspector.verify(fs, file);
        report
            .damage()
            .forEach(
                damage -> problems.add("offset " + damage.offset() + ": " + damage.getMessage()));
        note =
            ", "
                + report.records()
                + " records"
                + (report.tornBytes() > 0 ? ", torn tail of " + report.tornBytes() + " bytes" : "");
      }
      out().println((problems.isEmpty() ? "sound    " : "DAMAGED  ") + file + note);
      problems.forEach(problem -> out().println("           " + problem));
      damaged += problems.isEmpty() ? 0 : 1;
      sound += problems.isEmpty() ? 1 : 0;
    }
    out().println(sound + " sound, " + damaged + " damaged");
    return damaged == 0 ? ExitCode.DONE.number() : ExitCode.CORRUPTION.number();
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
        for (RemoteIterator<LocatedFileStatus> all = fs.listFiles(path, true); all.hasNext(); ) {
          Path each = all.next().getPath();
          if (isOurs(each)) {
            files.add(each);
          }
        }
      }
    }
    return files;
  }

  private static boolean isOurs(Path path) {
    return path.getName().endsWith(SSTABLE) || path.getName().endsWith(LOG);
  }
}
