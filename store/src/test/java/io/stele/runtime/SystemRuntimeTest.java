package io.stele.runtime;

class SystemRuntimeTest extends ProcessRuntimeContract {
  @Override
  protected void with(Work work) throws Exception {
    work.run(SystemRuntime.INSTANCE);
  }
}
