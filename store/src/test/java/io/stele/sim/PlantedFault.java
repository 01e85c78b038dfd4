package io.stele.sim;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.loading.ClassReloadingStrategy;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.pool.TypePool;

/**
 * A mistake planted into a method of the product while it runs, by redefining its class: the
 * product itself has no switch for it.
 *
 * @param name of the mistake
 * @param className whose method
 * @param method which
 * @param advice what is wrong with it
 * @param where it may show
 * @param other planted together with it, because either alone does no harm
 */
record PlantedFault(
    String name,
    String className,
    String method,
    Class<?> advice,
    Where where,
    Optional<PlantedFault> other) {
  /**
   * Histories.
   *
   * @param workloads what they choose from
   * @param focus of all of them; empty: any
   * @param besides a fault that each of them has, all along
   */
  record Where(List<String> workloads, Optional<Focus> focus, Optional<Fault> besides) {
    /** All. */
    static final Where ANY = new Where(Histories.NAMES, Optional.empty(), Optional.empty());

    private HistoryPlan plan(long seed, Duration length) {
      HistoryPlan plan =
          focus
              .map(only -> HistoryPlan.of(seed, length, workloads, only))
              .orElseGet(() -> HistoryPlan.of(seed, length, workloads));
      List<Fault.Planned> faults = new ArrayList<>();
      besides.ifPresent(fault -> faults.add(new Fault.Planned(Duration.ZERO, fault)));
      faults.addAll(plan.faults());
      return plan.withFaults(faults);
    }
  }

  private PlantedFault in(Where place) {
    return new PlantedFault(name, className, method, advice, place, other);
  }

  /** The same together with another, because either alone does no harm. */
  PlantedFault with(PlantedFault another) {
    return new PlantedFault(name, className, method, advice, where, Optional.of(another));
  }

  /** The same, looked for under fewer workloads. */
  PlantedFault under(String... names) {
    return in(new Where(List.of(names), where.focus(), where.besides()));
  }

  /** The same, looked for in histories with that focus. */
  PlantedFault in(Focus only) {
    return in(new Where(where.workloads(), Optional.of(only), where.besides()));
  }

  /** The same, looked for in histories with that fault all along. */
  PlantedFault besides(Fault fault) {
    return in(new Where(where.workloads(), where.focus(), Optional.of(fault)));
  }

  /** The history of a seed in which it may show. */
  HistoryPlan plan(long seed, Duration length) {
    return where.plan(seed, length);
  }

  /** Plants it; the classes are as before when the result is closed. */
  AutoCloseable plant() {
    AutoCloseable planted = plantAlone();
    Optional<AutoCloseable> with = other.map(PlantedFault::plant);
    return () -> {
      planted.close();
      if (with.isPresent()) {
        with.get().close();
      }
    };
  }

  private AutoCloseable plantAlone() {
    ByteBuddyAgent.install();
    ClassLoader loader = PlantedFault.class.getClassLoader();
    ClassFileLocator locator = ClassFileLocator.ForClassLoader.of(loader);
    TypeDescription type = TypePool.Default.of(locator).describe(className).resolve();
    if (type.getDeclaredMethods().filter(ElementMatchers.named(method)).isEmpty()) {
      throw new IllegalStateException(className + " has no method " + method);
    }
    ClassReloadingStrategy strategy = ClassReloadingStrategy.fromInstalledAgent();
    try {
      Class<?> loaded = Class.forName(className, true, loader);
      new ByteBuddy()
          .redefine(type, locator)
          .visit(Advice.to(advice).on(ElementMatchers.named(method)))
          .make()
          .load(loader, strategy);
      return () -> strategy.reset(locator, loaded);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String toString() {
    return name;
  }

  /** Answers true without asking. */
  static final class Yes {
    @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
    static boolean enter() {
      return true;
    }

    @Advice.OnMethodExit
    static void exit(@Advice.Return(readOnly = false) boolean returned) {
      returned = true;
    }
  }

  /** Answers false without asking. */
  static final class No {
    @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
    static boolean enter() {
      return true;
    }

    @Advice.OnMethodExit
    static void exit(@Advice.Return(readOnly = false) boolean returned) {
      returned = false;
    }
  }

  /** Does nothing, and returns nothing, null or zero. */
  static final class Nothing {
    @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
    static boolean enter() {
      return true;
    }
  }

  /** Returns the first argument without doing anything. */
  static final class FirstArgument {
    @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
    static boolean enter() {
      return true;
    }

    @Advice.OnMethodExit
    static void exit(
        @Advice.Argument(0) Object first,
        @Advice.Return(readOnly = false, typing = Assigner.Typing.DYNAMIC) Object returned) {
      returned = first;
    }
  }
}
