package io.stele;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Starts Java processes with options of their own, as a rule with the test's own class path. */
public final class ChildJvm {
  /**
   * Options of a process that lives for a minute or two: that is too short for Java's second
   * compiler to pay, and to verify classes takes a fifth of the start of anything with Hadoop.
   */
  public static final List<String> SHORT_LIVED =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:-BytecodeVerificationRemote");

  private ChildJvm() {}

  /** {@link #SHORT_LIVED}, and such a size. */
  public static List<String> shortLived(String heap) {
    List<String> options = new ArrayList<>(List.of("-Xmx" + heap, "-XX:+UseSerialGC"));
    options.addAll(SHORT_LIVED);
    return options;
  }

  /**
   * Starts {@code main}; the caller ends it.
   *
   * @param options of Java
   * @param output gets what the process says
   */
  public static Process start(
      List<String> options, Class<?> main, List<String> arguments, Path output) throws IOException {
    return start(options, main, arguments, Map.of(), output);
  }

  /** As above, with variables beside those of this process. */
  public static Process start(
      List<String> options,
      Class<?> main,
      List<String> arguments,
      Map<String, String> environment,
      Path output)
      throws IOException {
    String classPath = classPath(main.getClassLoader());
    return start(classPath, options, main, arguments, environment, output);
  }

  /** As above, with another class path. */
  public static Process start(
      String classPath,
      List<String> options,
      Class<?> main,
      List<String> arguments,
      Map<String, String> environment,
      Path output)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", classPath, main.getName()));
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()));
    builder.environment().putAll(environment);
    return builder.start();
  }

  /** That of the classes that {@code loader} loads. */
  public static String classPath(ClassLoader loader) {
    return loader instanceof URLClassLoader urls
        ? List.of(urls.getURLs()).stream()
            .map(ChildJvm::file)
            .collect(Collectors.joining(System.getProperty("path.separator")))
        : System.getProperty("java.class.path");
  }

  private static String file(URL url) {
    try {
      return Path.of(url.toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
