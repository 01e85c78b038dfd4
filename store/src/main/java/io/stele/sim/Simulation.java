package io.stele.sim;

import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGenerator.SplittableGenerator;

/**
 * Runs the tasks of many processes one at a time, in an order that a seed decides, on virtual time
 * that jumps to the next timer when all tasks wait.
 *
 * <p>A task is a thread, but only the one that holds the baton runs: it passes the baton on in each
 * wait of its {@link ProcessRuntime} ({@link SimulatedProcess}) and in no other place. Callbacks
 * (timers, arriving messages) run on the stack of the task that passes the baton, and must not
 * wait. So the same seed gives the same history: compare {@link #traceHash}.
 *
 * <p>Everything here is called by the holder of the baton, except for {@link #run}. Simulations
 * share nothing: several may run at once, each on its own thread.
 *
 * <p>The baton goes from thread to thread tens of thousands of times in a history, and costs least
 * where all of them share a core. So the threads of a simulation are started by each other, and
 * inherit the cores that the thread may use which made the simulation.
 */
public final class Simulation {
  private static final int TRACE_LINES_KEPT = 400;

  /** How long, by the machine's clock, one task may hold the baton. */
  private static final Duration STEP_MAX = Duration.ofMinutes(2);

  /** How likely a task lets others go before it takes a lock. */
  private static final double YIELD_PROBABILITY = 0.05;

  // Threads only lend their stacks: which one carries a task changes nothing. The simulations that
  // a thread makes use the same ones.
  private static final ThreadLocal<Executor> CARRIERS =
      ThreadLocal.withInitial(
          () ->
              new ThreadPoolExecutor(
                  0,
                  Integer.MAX_VALUE,
                  10,
                  TimeUnit.SECONDS,
                  new SynchronousQueue<>(),
                  Simulation::carrier));

  /** Something to run without waiting, at a moment, in a process. */
  private static final class Event implements Comparable<Event> {
    final long atNanos;
    final long number;
    final SimulatedProcess process;
    final String name;
    Optional<Runnable> work;

    Event(long atNanos, long number, SimulatedProcess process, String name, Runnable work) {
      this.atNanos = atNanos;
      this.number = number;
      this.process = process;
      this.name = name;
      this.work = Optional.of(work);
    }

    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  /** Something that happened. */
  private record Note(long atNanos, String process, String what) {
    @Override
    public String toString() {
      return String.format("%,14d us  %-12s %s", atNanos / 1000, process, what);
    }
  }

  private final Executor carriers = CARRIERS.get();
  private final RandomGenerator schedule;
  private final SplittableRandom seeds;
  private final long stepsMax;
  private final Duration stepMax;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final List<Object> ready = new ArrayList<>(); // Events that are due, and tasks.
  private final List<SimulatedTask> tasks = new ArrayList<>(); // That have not ended.
  private final ArrayDeque<Note> trace = new ArrayDeque<>();
  private final SimulatedProcess outside;
  private Optional<SimulatedTask> running = Optional.empty();
  private Optional<SimulatedProcess> callback = Optional.empty(); // Whose callback runs.
  private long nowNanos;
  private long eventNumber;
  private long steps;
  private long hash;
  private boolean over;
  private Optional<Throwable> failure = Optional.empty();
  private final CountDownLatch allEnded = new CountDownLatch(1);

  /**
   * A simulation in which nothing has happened.
   *
   * @param seed decides everything
   * @param stepsMax how many steps it may take before it fails as endless
   */
  public Simulation(long seed, long stepsMax) {
    this(seed, stepsMax, STEP_MAX);
  }

  /**
   * Like {@link #Simulation(long, long)}; a task that keeps the baton longer than {@code stepMax}
   * fails the simulation.
   */
  Simulation(long seed, long stepsMax, Duration stepMax) {
    this.stepMax = stepMax;
    this.seeds = new SplittableRandom(seed);
    this.schedule = seeds.split();
    this.stepsMax = stepsMax;
    this.outside = process("simulation");
  }

  private static Thread carrier(Runnable work) {
    Thread thread = new Thread(work, "simulation-carrier");
    thread.setDaemon(true);
    return thread;
  }

  /** Threads for tasks. */
  Executor carriers() {
    return carriers;
  }

  /** A new process without tasks; its name may be reused after its end. */
  public SimulatedProcess process(String name) {
    return new SimulatedProcess(this, name, seeds.split());
  }

  /** Random numbers of their own for some part of the simulation. */
  public SplittableGenerator split() {
    return seeds.split();
  }

  /** What the task that runs {@link #run} waits through. */
  public SimulatedProcess outside() {
    return outside;
  }

  /** Virtual time since the beginning. */
  public long nowNanos() {
    return nowNanos;
  }

  /** How many times a task was chosen to run. */
  public long steps() {
    return steps;
  }

  /** Everything that happened, in one number: equal for equal histories. */
  public long traceHash() {
    return hash;
  }

  /** What happened last, newest last. */
  public List<String> trace() {
    return trace.stream().map(Note::toString).toList();
  }

  /** Work that may fail. */
  public interface Work {
    /** Does it. */
    void run() throws Exception;
  }

  /**
   * Runs {@code work} as the first task, and others with it, until it ends; then ends all others.
   *
   * @throws Exception whatever {@code work} throws
   * @throws SimulationFailure if no task can ever go on, or a callback waited, or there were too
   *     many steps
   */
  public void run(Work work) throws Exception {
    List<Throwable> thrown = new ArrayList<>();
    SimulatedTask first =
        new SimulatedTask(
            outside,
            "main",
            () -> {
              try {
                work.run();
              } catch (Throwable e) { // Handed to the caller below.
                thrown.add(e);
              } finally {
                over = true;
              }
            });
    tasks.add(first);
    running = Optional.of(first);
    first.carry();
    awaitEnd();
    Optional<Throwable> why = failure.or(() -> thrown.stream().findFirst());
    if (why.isPresent() && why.get() instanceof Exception e) {
      throw e;
    }
    if (why.isPresent() && why.get() instanceof Error e) {
      throw e;
    }
  }

  /** Waits for the end, or for a task that does not pass the baton on. */
  private void awaitEnd() throws InterruptedException {
    long before = -1;
    while (!allEnded.await(stepMax.toMillis(), TimeUnit.MILLISECONDS)) {
      long now = steps; // Read without the baton: at worst an old value, and one more look.
      if (now == before) {
        lost(
            new SimulationFailure(
                "no task passed the baton on for "
                    + stepMax.toMillis()
                    + " ms"
                    + stackOfRunning()));
        return;
      }
      before = now;
    }
  }

  private String stackOfRunning() {
    StringBuilder text = new StringBuilder();
    running.ifPresent(
        task -> {
          text.append("; it is held by ").append(task.describe());
          task.stack().forEach(frame -> text.append("\n    at ").append(frame));
        });
    return text.toString();
  }

  // For processes and their tasks. The caller holds the baton.

  /** The process whose code runs. */
  SimulatedProcess current() {
    return callback.orElseGet(() -> running.orElseThrow().process());
  }

  /** The task that runs; a callback is no task, and may not wait. */
  SimulatedTask runningTask(String toDo) {
    if (callback.isPresent()) {
      throw fail("a callback of " + callback.get().name() + " would have to " + toDo);
    }
    if (running.isEmpty() || !running.get().isCarriedByCaller()) {
      throw fail("a thread that is no task would have to " + toDo);
    }
    return running.get();
  }

  boolean isInCallback() {
    return callback.isPresent();
  }

  /** Notes something that happened. */
  public void note(SimulatedProcess process, String what) {
    mix(nowNanos);
    mix(process.name().hashCode());
    mix(what.hashCode());
    if (trace.size() == TRACE_LINES_KEPT) {
      trace.poll();
    }
    trace.add(new Note(nowNanos, process.name(), what));
  }

  private void mix(long value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15L;
    hash ^= hash >>> 29;
  }

  /** Runs {@code work} in {@code process} after {@code delay}, unless the process is dead then. */
  Runnable schedule(SimulatedProcess process, Duration delay, String name, Runnable work) {
    long at = nowNanos + Math.max(0, delay.toNanos());
    Event event = new Event(at, eventNumber++, process, name, work);
    events.add(event);
    return () -> event.work = Optional.empty();
  }

  /** Adds a task; it runs when it is chosen. */
  SimulatedTask start(SimulatedProcess process, String name, Runnable work) {
    SimulatedTask task = new SimulatedTask(process, name, work);
    tasks.add(task);
    ready.add(task);
    return task;
  }

  /** Lets a waiting task go on when it is chosen. */
  void makeReady(SimulatedTask task) {
    ready.add(task);
  }

  /** Whether the running task should let others go first here. */
  boolean yieldsHere() {
    return !over && schedule.nextDouble() < YIELD_PROBABILITY;
  }

  /** Passes the baton on, and returns when the running task has it again. */
  void pass(SimulatedTask from) {
    SimulatedTask next = choose();
    if (next != from) {
      running = Optional.of(next);
      next.carry();
      from.awaitBaton();
    }
  }

  /** The running task has ended: passes the baton on for good. */
  void ended(SimulatedTask task) {
    tasks.remove(task);
    if (over && tasks.isEmpty()) {
      allEnded.countDown();
      return;
    }
    if (over) {
      unwind();
    }
    SimulatedTask next = choose();
    running = Optional.of(next);
    next.carry();
  }

  /** Makes all tasks end, those of paused processes too. */
  private void unwind() {
    for (SimulatedTask task : tasks) {
      task.process().release();
      task.end();
    }
  }

  /** The baton cannot be passed on: ends {@link #run}, and leaves the tasks where they are. */
  void lost(Throwable why) {
    failure = Optional.of(failure.orElse(why));
    allEnded.countDown();
  }

  /** Whether the simulation is ending: every wait throws. */
  boolean isOver() {
    return over;
  }

  /** Chooses the task that runs next, and runs callbacks that are due. */
  private SimulatedTask choose() {
    while (true) {
      while (!events.isEmpty()
          && (events.peek().atNanos <= nowNanos || events.peek().work.isEmpty())) {
        Event due = events.poll();
        if (due.work.isPresent()) {
          ready.add(due);
        }
      }
      if (ready.isEmpty()) {
        if (events.isEmpty()) {
          if (over) {
            throw new IllegalStateException("tasks do not unwind" + waiting());
          }
          fail("all tasks wait, and nothing will happen any more");
          continue;
        }
        if (!over) {
          nowNanos = Math.max(nowNanos, events.peek().atNanos);
        }
        ready.add(events.poll());
        continue;
      }
      if (++steps > stepsMax && !over) {
        fail("it took more than " + stepsMax + " steps");
        continue;
      }
      if (steps - stepsMax > stepsMax) { // Twice as many, and no overflow.
        throw new IllegalStateException("tasks go on for ever when they should end" + waiting());
      }
      int chosen = ready.size() == 1 ? 0 : schedule.nextInt(ready.size());
      Object one = ready.get(chosen);
      ready.set(chosen, ready.get(ready.size() - 1));
      ready.remove(ready.size() - 1);
      if (one instanceof SimulatedTask task) {
        if (over || !task.process().holds(task)) {
          mix(nowNanos);
          mix(task.process().name().hashCode());
          mix(task.number());
          return task;
        }
      } else {
        run((Event) one);
      }
    }
  }

  private void run(Event event) {
    if (event.work.isEmpty() || over || event.process.isDead() || event.process.holds(event)) {
      return;
    }
    mix(event.number);
    if (!event.name.isEmpty()) {
      note(event.process, event.name);
    }
    Optional<SimulatedProcess> before = callback;
    callback = Optional.of(event.process);
    try {
      event.work.get().run();
    } catch (ProcessKilled e) {
      // The callback's process died in it.
    } catch (RuntimeException | Error e) {
      fail("a callback of " + event.process.name() + " threw " + e, e);
    } finally {
      callback = before;
    }
  }

  /** Puts what was held back by a paused process among what may run. */
  void release(List<Object> held) {
    ready.addAll(held);
    held.clear();
  }

  /** Ends the simulation: its {@link #run} throws. */
  SimulationFailure fail(String why) {
    return fail(new SimulationFailure(why + waiting()));
  }

  /** The same, because of {@code cause}. */
  SimulationFailure fail(String why, Throwable cause) {
    SimulationFailure first = new SimulationFailure(why + waiting());
    first.initCause(cause);
    return fail(first);
  }

  private SimulationFailure fail(SimulationFailure first) {
    if (failure.isEmpty()) {
      failure = Optional.of(first);
    }
    if (!over) {
      over = true;
      unwind();
    }
    return first;
  }

  private String waiting() {
    StringBuilder text = new StringBuilder("; the tasks:");
    for (SimulatedTask task : tasks) {
      text.append("\n  ").append(task.describe());
    }
    return text.toString();
  }
}
