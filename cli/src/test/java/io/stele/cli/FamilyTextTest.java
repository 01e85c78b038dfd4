package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class FamilyTextTest {
  private static String changed(String family, String change) {
    return FamilyText.format(FamilyText.change(FamilyText.parse(family), change));
  }

  @Test
  void aNewFamilyKeepsTheNewestVersionUnlessSaid() {
    assertThat(FamilyText.format(FamilyText.parse("f"))).isEqualTo("f:versions=1");
    assertThat(FamilyText.format(FamilyText.parse("f:group=g"))).isEqualTo("f:versions=1,group=g");
    assertThat(FamilyText.format(FamilyText.parse("f:age=30d"))).isEqualTo("f:age=30d");
    assertThat(FamilyText.format(FamilyText.parse("f:versions=all"))).isEqualTo("f:versions=all");
    assertThat(FamilyText.format(FamilyText.parse("f:age=1d,versions=5")))
        .isEqualTo("f:versions=5,age=1d");
  }

  @Test
  void whatAChangeDoesNotSayStays() {
    assertThat(changed("f:versions=3", "f:group=default")).isEqualTo("f:versions=3");
    assertThat(changed("f:versions=3,group=g", "f:versions=5")).isEqualTo("f:versions=5,group=g");
    assertThat(changed("f:versions=3,age=1d,group=g", "f"))
        .isEqualTo("f:versions=3,age=1d,group=g");
    assertThat(changed("f:versions=3", "f:age=1d")).isEqualTo("f:versions=3,age=1d");
    assertThat(changed("f:age=1d", "f:versions=3")).isEqualTo("f:versions=3,age=1d");
  }

  @Test
  void aLimitIsTakenAwayByName() {
    assertThat(changed("f:versions=3,age=1d", "f:versions=all")).isEqualTo("f:age=1d");
    assertThat(changed("f:versions=3,age=1d", "f:age=any")).isEqualTo("f:versions=3");
    assertThat(changed("f:versions=3,age=1d", "f:age=any,versions=all"))
        .isEqualTo("f:versions=all");
  }

  @Test
  void aPolicyThatCannotBeSaidIsReplacedOnlyAsAWhole() {
    ColumnFamily family =
        new ColumnFamily(
            "f",
            new GcPolicy.Intersection(
                List.of(GcPolicy.maxVersions(3), GcPolicy.maxAge(Duration.ofDays(1)))),
            "g");
    assertThat(FamilyText.change(family, "f:group=h").gc()).isEqualTo(family.gc());
    assertThatThrownBy(() -> FamilyText.change(family, "f:versions=5"))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("give both");
    assertThat(FamilyText.format(FamilyText.change(family, "f:versions=5,age=any")))
        .isEqualTo("f:versions=5,group=g");
  }

  @Test
  void aPolicyIsShownByWhatItKeeps() {
    GcPolicy three = GcPolicy.maxVersions(3);
    GcPolicy month = GcPolicy.maxAge(Duration.ofDays(30));
    GcPolicy year = GcPolicy.maxAge(Duration.ofDays(365));
    GcPolicy either = GcPolicy.intersection(three, month);
    assertThat(shown(GcPolicy.union(three, month))).isEqualTo("f:versions=3,age=30d,group=g");
    assertThat(shown(either)).isEqualTo("f:(versions=3 or age=30d),group=g");
    assertThat(shown(GcPolicy.union(year, either)))
        .isEqualTo("f:age=365d,(versions=3 or age=30d),group=g");
    assertThat(shown(GcPolicy.intersection(GcPolicy.union(three, year), month)))
        .isEqualTo("f:((versions=3 and age=365d) or age=30d),group=g");
  }

  private static String shown(GcPolicy policy) {
    return FamilyText.format(new ColumnFamily("f", policy, "g"));
  }

  @Test
  void whatMakesNoSenseIsRefused() {
    for (String wrong : List.of("f:", "f:versions", "f:versions=1,versions=all", "f:grop=g")) {
      assertThatThrownBy(() -> FamilyText.parse(wrong))
          .as(wrong)
          .isInstanceOf(SteleException.class)
          .hasMessageContaining(wrong);
    }
  }
}
