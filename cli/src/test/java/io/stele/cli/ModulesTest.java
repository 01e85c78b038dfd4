package io.stele.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.stele.RuntimeSeam;
import io.stele.StorePackages;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The modules and the only arrows between them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ModulesTest {
  private static final List<String> STORE = StorePackages.NAMES;

  /** What programs use of the store: its public API, and configuration keys. */
  private static final List<String> API = List.of("model", "client", "config");

  /** What splits and shuffled records are written with, besides. */
  private static final List<String> BYTES = with(API, "format", "wire");

  /** Each module's package and what of ours it may use. */
  private static final Map<String, List<String>> ARROWS =
      Map.of(
          "inputformat", with(BYTES, "record", "direct", "bulk"), // It notes its pins for files.
          "outputformat", with(BYTES, "bulk"),
          "mapreduce", with(BYTES, "direct", "inputformat", "outputformat"),
          "examples", with(API, "inputformat", "outputformat", "mapreduce"),
          "yarn", STORE);

  private static final List<String> ALL =
      with(
          STORE,
          "inputformat",
          "outputformat",
          "mapreduce",
          "yarn",
          "examples",
          "cli",
          "benchmarks");

  private final JavaClasses everything =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.stele");

  @Test
  void aModuleUsesOnlyWhatTheDesignAllows() {
    ARROWS.forEach(
        (module, allowed) ->
            noClasses()
                .that()
                .resideInAPackage(in(module))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                    ALL.stream()
                        .filter(other -> !other.equals(module) && !allowed.contains(other))
                        .map(ModulesTest::in)
                        .toArray(String[]::new))
                .allowEmptyShould(true)
                .check(everything));
  }

  @Test
  void theStoreUsesNoOtherModule() {
    noClasses()
        .that()
        .resideInAnyPackage(STORE.stream().map(ModulesTest::in).toArray(String[]::new))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            ALL.stream()
                .filter(other -> !STORE.contains(other))
                .map(ModulesTest::in)
                .toArray(String[]::new))
        .check(everything);
  }

  @Test
  void theApplicationMasterAndTheCommandTakeTimeChanceThreadsAndWaitingFromTheRuntime() {
    RuntimeSeam.check(everything.that(resideInAPackage(in("yarn"))), List.of());
    RuntimeSeam.check(everything.that(resideInAPackage(in("cli"))), List.of());
  }

  private static List<String> with(List<String> first, String... more) {
    List<String> both = new ArrayList<>(first);
    both.addAll(List.of(more));
    return List.copyOf(both);
  }

  private static String in(String name) {
    return "io.stele." + name + "..";
  }
}
