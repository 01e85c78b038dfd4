package io.stele;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The rule that time, chance, threads and waiting come from {@code runtime}: whoever takes them
 * from elsewhere cannot be simulated.
 */
public final class RuntimeSeam {
  /** Classes by which code waits, runs beside its caller, or asks for time or chance. */
  private static final Set<String> TYPES =
      Set.of(
          "java.lang.Thread",
          "java.lang.ThreadGroup",
          "java.util.Timer",
          "java.util.TimerTask",
          "java.util.concurrent.CountDownLatch",
          "java.util.concurrent.CyclicBarrier",
          "java.util.concurrent.Exchanger",
          "java.util.concurrent.Executors",
          "java.util.concurrent.ExecutorService",
          "java.util.concurrent.ForkJoinPool",
          "java.util.concurrent.ForkJoinTask",
          "java.util.concurrent.Phaser",
          "java.util.concurrent.Semaphore",
          "java.util.concurrent.ThreadFactory",
          "java.util.concurrent.ThreadLocalRandom",
          "java.util.concurrent.locks.LockSupport",
          "java.util.concurrent.locks.ReentrantLock",
          "java.util.concurrent.locks.ReentrantReadWriteLock",
          "java.util.concurrent.locks.StampedLock",
          "java.security.SecureRandom",
          "java.time.Clock");

  private static final String BLOCKING_QUEUE = "java.util.concurrent.BlockingQueue";
  private static final String FUTURE = "java.util.concurrent.CompletableFuture";

  /** Methods of classes that are fine but for these. */
  private static final Set<String> METHODS =
      Set.of(
          "java.lang.System.nanoTime",
          "java.lang.System.currentTimeMillis",
          "java.lang.Object.wait",
          "java.lang.Object.notify",
          "java.lang.Object.notifyAll",
          "java.time.Instant.now",
          "java.time.InstantSource.system",
          "java.util.UUID.randomUUID",
          "java.lang.Math.random",
          "java.util.Collection.parallelStream",
          FUTURE + ".get",
          FUTURE + ".join",
          FUTURE + ".orTimeout",
          FUTURE + ".completeOnTimeout",
          FUTURE + ".delayedExecutor");

  private RuntimeSeam() {}

  /**
   * Checks {@code classes}.
   *
   * @param exceptions names of classes (with all that is nested in them) that may do as they like
   */
  public static void check(JavaClasses classes, List<String> exceptions) {
    noClasses()
        .that(
            DescribedPredicate.describe(
                "are not " + exceptions,
                type -> exceptions.stream().noneMatch(name -> isIn(type, name))))
        .should(bypass())
        .allowEmptyShould(true)
        .check(classes);
  }

  private static boolean isIn(JavaClass type, String name) {
    return type.getName().equals(name)
        || type.getName().startsWith(name + "$")
        || (name.endsWith("..") && type.getName().startsWith(name.substring(0, name.length() - 1)));
  }

  private static ArchCondition<JavaClass> bypass() {
    return new ArchCondition<>("take time, chance, threads or waiting from elsewhere") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        Stream.concat(
                type.getDirectDependenciesFromSelf().stream()
                    .filter(RuntimeSeam::isBanned)
                    .map(Dependency::getDescription),
                type.getAccessesFromSelf().stream()
                    .filter(RuntimeSeam::isBanned)
                    .map(JavaAccess::getDescription))
            .distinct()
            .forEach(what -> events.add(SimpleConditionEvent.satisfied(type, what)));
      }
    };
  }

  private static boolean isBanned(Dependency dependency) {
    JavaClass target = dependency.getTargetClass();
    if (target.getPackageName().startsWith("io.netty.")) {
      return false; // The network's own threads; PackagesTest says who may touch Netty.
    }
    return TYPES.contains(target.getName())
        || target.isAssignableTo("java.util.concurrent.ExecutorService")
        || target.isAssignableTo(BLOCKING_QUEUE);
  }

  private static boolean isBanned(JavaAccess<?> access) {
    String owner = access.getTargetOwner().getName();
    String name = access.getTarget().getName();
    List<JavaClass> parameters =
        access.getTarget() instanceof CodeUnitAccessTarget call
            ? call.getRawParameterTypes()
            : List.of();
    if (owner.equals("java.util.Random") && name.equals("<init>")) {
      return parameters.isEmpty(); // Without a seed.
    }
    if (owner.equals(FUTURE) && name.endsWith("Async")) {
      return parameters.stream()
          .noneMatch(type -> type.getName().equals("java.util.concurrent.Executor"));
    }
    return METHODS.contains(owner + "." + name);
  }
}
