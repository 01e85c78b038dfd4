package io.stele.mapreduce.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;
import org.apache.hadoop.conf.Configuration;

/** A program that documents show, or one made of their Java words, compiled and run. */
public final class DocumentExample {
  /** What an editor would add by itself. */
  private static final List<String> IMPORTS =
      List.of(
          "io.stele.client.*",
          "io.stele.inputformat.*",
          "io.stele.mapreduce.*",
          "io.stele.model.*",
          "io.stele.outputformat.*",
          "java.io.IOException",
          "org.apache.hadoop.conf.Configuration",
          "org.apache.hadoop.fs.Path",
          "org.apache.hadoop.io.*",
          "org.apache.hadoop.mapreduce.*",
          "org.apache.hadoop.mapreduce.lib.output.FileOutputFormat",
          "org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer");

  private final String name;
  private final String source;

  private DocumentExample(String name, String source) {
    this.name = name;
    this.source = source;
  }

  /** The class {@code name} with these members; with more imports, if it needs any. */
  public static DocumentExample ofMembers(String name, String members, String... imports) {
    StringBuilder source = new StringBuilder();
    IMPORTS.forEach(each -> source.append("import ").append(each).append(";\n"));
    Arrays.stream(imports).forEach(each -> source.append("import ").append(each).append(";\n"));
    return new DocumentExample(name, source + "public class " + name + " {\n" + members + "\n}\n");
  }

  /** The class in the file at {@code path} below the repository's root, in no package. */
  public static DocumentExample ofFile(String path) throws IOException {
    Path file = Repository.root().resolve(path);
    return new DocumentExample(
        file.getFileName().toString().replace(".java", ""), Files.readString(file));
  }

  /** Its class. */
  public String name() {
    return name;
  }

  /** Where it is compiled. */
  public Path directory() throws IOException {
    return Files.createDirectories(Path.of("target", "documents", name).toAbsolutePath());
  }

  /** Compiles it, and gives the directory of its classes. */
  public Path compile(String classPath) throws IOException {
    Path file = Files.writeString(directory().resolve(name + ".java"), source);
    Path classes = Files.createDirectories(directory().resolve("classes"));
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                classPath,
                "-d",
                classes.toString(),
                file.toString());
    assertThat(code).as("javac of%n%s", source).isZero();
    return classes;
  }

  /**
   * Compiles it, and calls its static method {@code run} in this process.
   *
   * @param conf copied; MapReduce finds the classes by the copy
   * @param more the arguments after it
   */
  public Object run(Configuration conf, Object... more) throws Exception {
    Path classes = compile(System.getProperty("java.class.path"));
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, before)) {
      Thread.currentThread().setContextClassLoader(loader);
      Configuration its = new Configuration(conf);
      its.setClassLoader(loader);
      Object[] arguments = new Object[more.length + 1];
      arguments[0] = its;
      System.arraycopy(more, 0, arguments, 1, more.length);
      Method run =
          Arrays.stream(loader.loadClass(name).getMethods())
              .filter(method -> method.getName().equals("run"))
              .findFirst()
              .orElseThrow();
      return run.invoke(null, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }
}
