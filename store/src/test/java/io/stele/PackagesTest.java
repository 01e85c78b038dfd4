package io.stele;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.stele.runtime.SystemRuntime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The packages of the store are layers: a lower one never imports a higher one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PackagesTest {
  /** From the bottom up. */
  private static final List<String> PACKAGES = StorePackages.NAMES;

  /** What may take time, chance, threads and waiting from elsewhere. */
  private static final List<String> BESIDE_THE_RUNTIME =
      List.of(
          "io.stele.runtime..",
          // Tasks of a simulation are carried by threads, one at a time.
          "io.stele.sim.Simulation",
          "io.stele.sim.SimulatedTask",
          "io.stele.sim.SimulatedProcess",
          // A bounded buffer whose users never wait.
          "io.stele.format.Pool");

  private final JavaClasses store =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.stele");

  @Test
  void aPackageNeverImportsAHigherOne() {
    for (int i = 0; i < PACKAGES.size(); i++) {
      String[] higher = in(PACKAGES.subList(i + 1, PACKAGES.size()));
      if (higher.length > 0) {
        noClasses()
            .that()
            .resideInAPackage(in(PACKAGES.get(i)))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(higher)
            .allowEmptyShould(true)
            .check(store);
      }
    }
  }

  @Test
  void theClientDoesNotStandOnTheEngine() {
    noClasses()
        .that()
        .resideInAnyPackage(in("lock"), in("wire"), in("metadata"), in("client"))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(in("sstable"), in("log"), in("memtable"), in("tablet"))
        .check(store);
  }

  @Test
  void everyClassIsInAListedPackage() {
    classes().should().resideInAnyPackage(in(PACKAGES)).check(store);
  }

  @Test
  void noPackagesImportEachOther() {
    slices().matching("io.stele.(*)..").should().beFreeOfCycles().check(store);
  }

  @Test
  void onlyWhatBeginsAProcessOrConnectsToAClusterTakesTheRealRuntime() {
    noClasses()
        .that()
        .resideOutsideOfPackages(in("runtime"), in("sim"))
        .and()
        .haveNameNotMatching("io\\.stele\\.(master\\.Master|tabletserver\\.TabletServer)Main.*")
        .and()
        .doNotHaveFullyQualifiedName("io.stele.client.Connection")
        .should()
        .dependOnClassesThat()
        .areAssignableTo(SystemRuntime.class)
        .check(store);
  }

  @Test
  void theTwoServersDoNotKnowEachOther() {
    noClasses()
        .that()
        .resideInAPackage(in("master"))
        .should()
        .dependOnClassesThat()
        .resideInAPackage(in("tabletserver"))
        .allowEmptyShould(true)
        .check(store);
  }

  @Test
  void aTabletKnowsNoNetworkNoZooKeeperAndOwnsNoThreads() {
    noClasses()
        .that()
        .resideInAnyPackage(in("tablet"), in("memtable"), in("sstable"))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.netty..", "org.apache.curator..", "org.apache.zookeeper..", "java.net..")
        .orShould()
        .callMethod(Thread.class, "start")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(java.util.concurrent.ExecutorService.class)
        .allowEmptyShould(true)
        .check(store);
  }

  @Test
  void onePlaceEachTouchesCuratorNettyAndCaffeine() {
    noClasses()
        .that()
        .resideOutsideOfPackages(in("lock"), in("sim"))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.curator..", "org.apache.zookeeper..")
        .allowEmptyShould(true)
        .check(store);
    noClasses()
        .that()
        .resideOutsideOfPackage(in("wire"))
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.netty..")
        .allowEmptyShould(true)
        .check(store);
    noClasses()
        .that()
        .haveSimpleNameNotStartingWith("Caffeine")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.github.benmanes..")
        .allowEmptyShould(true)
        .check(store);
  }

  @Test
  void timeChanceThreadsAndWaitingComeFromTheRuntime() {
    RuntimeSeam.check(store, BESIDE_THE_RUNTIME);
  }

  /** Jobs have no jar of it: what else names it would fail there when it is loaded. */
  @Test
  void oneClassTouchesTheNativeLibraryOfZstandard() {
    noClasses()
        .that()
        .haveNameNotMatching(".*\\.NativeZstdCodec(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.github.luben..")
        .check(store);
  }

  @Test
  void whatApplicationsAndJobsUseLoadsNothingOfTheServers() {
    noClasses()
        .that()
        .resideInAnyPackage(
            in("model"),
            in("config"),
            in("format"),
            in("lock"),
            in("wire"),
            in("metadata"),
            in("client"))
        .should()
        .dependOnClassesThat()
        .haveSimpleNameStartingWith("Caffeine")
        .allowEmptyShould(true)
        .check(store);
  }

  private static String[] in(List<String> packages) {
    return packages.stream().map(PackagesTest::in).toArray(String[]::new);
  }

  private static String in(String name) {
    return "io.stele." + name + "..";
  }
}
