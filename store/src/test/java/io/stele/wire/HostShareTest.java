package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostShareTest {
  @Test
  void aMachineIsTheSameHostByAllNamesThatItHasForItself() {
    assertThat(HostShare.name("127.0.0.1")).isEqualTo("localhost");
    assertThat(HostShare.name("127.0.1.1")).isEqualTo("localhost");
    assertThat(HostShare.name("::1")).isEqualTo("localhost");
    assertThat(HostShare.name("0:0:0:0:0:0:0:1")).isEqualTo("localhost");
    assertThat(HostShare.name("LocalHost")).isEqualTo("localhost");
  }

  @Test
  void otherHostsKeepTheirNamesInLowerCase() {
    assertThat(HostShare.name("Node7.Example.com")).isEqualTo("node7.example.com");
    assertThat(HostShare.name("127.example.com")).isEqualTo("127.example.com");
    assertThat(HostShare.name("10.0.0.1")).isEqualTo("10.0.0.1");
  }
}
