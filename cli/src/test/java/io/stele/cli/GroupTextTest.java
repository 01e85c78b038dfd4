package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Codec;
import io.stele.model.LocalityGroup;
import io.stele.model.SteleException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

class GroupTextTest {
  @ParameterizedTest
  @EnumSource(Codec.class)
  void everyCodecIsReadAsItIsWritten(Codec codec) {
    LocalityGroup group = LocalityGroup.of("pages").withCodec(codec);
    assertThat(GroupText.change(LocalityGroup.of("pages"), GroupText.format(group)))
        .isEqualTo(group);
    assertThat(GroupText.codec(codec.name().replace('_', '-'))).isEqualTo(codec);
  }

  @Test
  void anUnknownCodecIsRefusedAndTheKnownOnesAreNamed() {
    assertThatThrownBy(() -> GroupText.codec("zst"))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("none, snappy, lz4, gzip, zstd, zstd-high");
  }

  @Test
  void memoryIsOnOrOffAndNothingElse() {
    LocalityGroup off = LocalityGroup.of("flags");
    LocalityGroup on = off.withInMemory(true);
    assertThat(GroupText.change(off, "flags:memory")).isEqualTo(on);
    assertThat(GroupText.change(off, "flags:memory=yes")).isEqualTo(on);
    assertThat(GroupText.change(on, "flags:memory=no")).isEqualTo(off);
    for (String wrong : List.of("memory=false", "memory=", "memory=No")) {
      assertThatThrownBy(() -> GroupText.change(off, "flags:" + wrong))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("memory=yes or memory=no, not \"" + wrong + "\"");
    }
  }

  @Test
  void theHelpOfAnAlterationSaysHowToTakeAGroupOutOfMemory() {
    CommandLine alter =
        OptionValue.register(new CommandLine(new TableCommand())).getSubcommands().get("alter");
    assertThat(alter.getUsageMessage()).contains("memory=no");
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void theHelpSaysWhatEachCodecIsFor(Codec codec) {
    CommandLine create =
        OptionValue.register(new CommandLine(new TableCommand())).getSubcommands().get("create");
    assertThat(create.getUsageMessage())
        .containsPattern("(?m)^  " + GroupText.lower(codec) + " {2,}\\S");
  }
}
