package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.Lock;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A master's loop and what servers report of where the bytes of tablets lie. */
class LocalityTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);
  private static final ServerId C = new ServerId("c", 1, 1);

  private final MasterFixture master = new MasterFixture();

  private void stepFor(Duration time) throws Exception {
    for (long i = 0; i < time.toMillis() / 100; i++) {
      master.loop.step();
      master.sleep(Duration.ofMillis(100));
    }
  }

  /** A has a tablet, reports {@code home} as the host with its bytes, and dies: where it goes. */
  private ServerId placeAfterDeath(Optional<String> home) throws Exception {
    AtomicReference<ServerId> place = new AtomicReference<>();
    master.run(
        () -> {
          master.bootstrap();
          Lock lock = master.start(A);
          TableId table = master.table("t");
          master.stepUntilIdle();
          TabletRecord tablet = master.only(table);
          assertThat(tablet.assignment().isTo(A)).isTrue();
          home.ifPresent(host -> master.plane.localHosts.put(tablet.id(), host));
          stepFor(Duration.ofSeconds(8)); // Two reports.
          master.start(B);
          master.start(C);
          master.signal.rereadAllSoon();
          stepFor(Duration.ofSeconds(1));
          lock.release();
          stepFor(MasterFixture.LEASE.multipliedBy(2));
          assertThat(master.isServed(table)).isTrue();
          place.set(master.only(table).assignment().server().orElseThrow());
        });
    return place.get();
  }

  @Test
  void theTabletsOfADeadServerGoWhereTheirBytesLie() throws Exception {
    assertThat(placeAfterDeath(Optional.of("c"))).isEqualTo(C);
  }

  @Test
  void ofAServerThatReportsNoHostsTheyGoToTheLightest() throws Exception {
    assertThat(placeAfterDeath(Optional.empty())).isEqualTo(B);
  }

  @Test
  void hostsThatAReportDoesNotNameAreIgnored() throws Exception {
    master.plane.nonsense = 3;
    assertThat(placeAfterDeath(Optional.of("c"))).isEqualTo(B);
  }
}
