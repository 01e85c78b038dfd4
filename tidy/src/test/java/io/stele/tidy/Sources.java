package io.stele.tidy;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** What the Java sources of all modules declare, as the compiler parses it. Immutable. */
final class Sources {
  /** A source file. */
  record SourceFile(Path path, String pack, long lines) {}

  /**
   * A method or a constructor.
   *
   * @param name after that of its class
   * @param lines without those of its annotations
   * @param parameters how many it chose to have: none where it overrides, is a record's canonical
   *     constructor, or where a parameter is an annotated option of a command
   */
  record Method(Path path, String name, long lines, int parameters) {
    boolean isMain() {
      return inMain(path);
    }
  }

  /** A class, by its simple name; with components where it is a record. */
  record Type(Path path, String name, int components) {
    /** With that of its file before it, unless they are the same. */
    String qualified() {
      String file = path.getFileName().toString().replace(".java", "");
      return file.equals(name) ? name : file + "." + name;
    }

    boolean isMain() {
      return inMain(path);
    }
  }

  /** A name that a file declares: of a type, method, field, parameter or variable. */
  record Name(Path path, String text) {
    boolean isMain() {
      return inMain(path);
    }
  }

  private final List<SourceFile> files = new ArrayList<>();
  private final List<Method> methods = new ArrayList<>();
  private final List<Type> types = new ArrayList<>();
  private final List<Name> names = new ArrayList<>();
  private final Map<String, Set<String>> membersOfTypes = new HashMap<>();
  private final Map<String, Set<String>> packagesOfTypes = new HashMap<>();
  private final Set<String> imported = new HashSet<>();

  private Sources() {}

  /** Parses all sources below {@code root} that are no build's output. */
  static Sources read(Path root) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Sources sources = new Sources();
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  manager,
                  null,
                  List.of("-proc:none"),
                  null,
                  manager.getJavaFileObjectsFromPaths(paths(root)));
      SourcePositions positions = Trees.instance(task).getSourcePositions();
      for (CompilationUnitTree unit : task.parse()) {
        sources.add(root, unit, positions);
      }
    }
    return sources;
  }

  List<SourceFile> files() {
    return files;
  }

  List<Method> methods() {
    return methods;
  }

  List<Type> types() {
    return types;
  }

  List<Name> names() {
    return names;
  }

  /**
   * Whether there is such a type and, unless {@code member} is null, whether it declares such a
   * method, field or type. Of the types of others that ours use, only that there are such.
   *
   * @param pack the package, or its last parts, with a dot after each; may be empty
   */
  boolean has(String pack, String type, String member) {
    Set<String> members = membersOfTypes.get(type);
    return members == null
        ? imported.contains(type) || isOfJava(type)
        : isIn(pack, type) && (member == null || members.contains(member));
  }

  private boolean isIn(String pack, String type) {
    return packagesOfTypes.get(type).stream()
        .anyMatch(one -> ("." + one + ".").endsWith("." + pack));
  }

  private static boolean isOfJava(String type) {
    try {
      Class.forName("java.lang." + type);
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static List<Path> paths(Path root) throws IOException {
    List<Path> paths = new ArrayList<>();
    try (Stream<Path> modules = Files.list(root)) {
      for (Path module : modules.filter(m -> Files.exists(m.resolve("pom.xml"))).toList()) {
        try (Stream<Path> tree = Files.walk(module.resolve("src"))) {
          tree.filter(p -> p.toString().endsWith(".java")).forEach(paths::add);
        }
      }
    }
    return paths;
  }

  private void add(Path root, CompilationUnitTree unit, SourcePositions positions)
      throws IOException {
    Path absolute = Path.of(unit.getSourceFile().toUri());
    Path path = root.relativize(absolute);
    try (Stream<String> lines = Files.lines(absolute)) {
      files.add(new SourceFile(path, unit.getPackageName().toString(), lines.count()));
    }
    for (ImportTree imports : unit.getImports()) {
      String name = imports.getQualifiedIdentifier().toString();
      imported.add(name.substring(name.lastIndexOf('.') + 1));
    }
    new TreePathScanner<Void, Void>() {
      @Override
      public Void visitClass(ClassTree type, Void none) {
        String name = type.getSimpleName().toString();
        names.add(new Name(path, name));
        types.add(new Type(path, name, components(type)));
        packagesOfTypes
            .computeIfAbsent(name, n -> new HashSet<>())
            .add(unit.getPackageName().toString());
        Set<String> members = membersOfTypes.computeIfAbsent(name, n -> new HashSet<>());
        for (Tree member : type.getMembers()) {
          if (member instanceof MethodTree method) {
            members.add(method.getName().toString());
          } else if (member instanceof VariableTree field) {
            members.add(field.getName().toString());
          } else if (member instanceof ClassTree nested) {
            members.add(nested.getSimpleName().toString());
          }
        }
        return super.visitClass(type, none);
      }

      @Override
      public Void visitMethod(MethodTree method, Void none) {
        ClassTree owner = (ClassTree) getCurrentPath().getParentPath().getLeaf();
        long modifiersEnd = positions.getEndPosition(unit, method.getModifiers());
        long start = Math.max(modifiersEnd, positions.getStartPosition(unit, method));
        methods.add(
            new Method(
                path,
                owner.getSimpleName() + "." + method.getName(),
                line(positions.getEndPosition(unit, method)) - line(start) + 1,
                parameters(owner, method)));
        if (!isOverride(method)) {
          names.add(new Name(path, method.getName().toString()));
        }
        return super.visitMethod(method, none);
      }

      @Override
      public Void visitVariable(VariableTree variable, Void none) {
        names.add(new Name(path, variable.getName().toString()));
        return super.visitVariable(variable, none);
      }

      private long line(long position) {
        return unit.getLineMap().getLineNumber(position);
      }
    }.scan(unit, null);
  }

  private static int parameters(ClassTree owner, MethodTree method) {
    boolean isCanonical =
        method.getReturnType() == null && method.getParameters().size() == components(owner);
    if (isOverride(method) || isCanonical) {
      return 0;
    }
    return (int)
        method.getParameters().stream()
            .filter(parameter -> parameter.getModifiers().getAnnotations().isEmpty())
            .count();
  }

  private static boolean isOverride(MethodTree method) {
    return method.getModifiers().getAnnotations().stream()
        .anyMatch(annotation -> annotation.getAnnotationType().toString().equals("Override"));
  }

  /** A record's fields are its components: it cannot have others. */
  private static int components(ClassTree type) {
    if (type.getKind() != Tree.Kind.RECORD) {
      return 0;
    }
    return (int)
        type.getMembers().stream()
            .filter(VariableTree.class::isInstance)
            .map(VariableTree.class::cast)
            .filter(field -> !field.getModifiers().getFlags().contains(Modifier.STATIC))
            .count();
  }

  private static boolean inMain(Path path) {
    return path.toString().contains("src/main/");
  }
}
