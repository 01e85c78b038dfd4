package io.stele.yarn;

import io.stele.web.Metric;
import io.stele.web.StatusPage;
import io.stele.wire.application.ApplicationProtos.ComponentProto;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import java.util.List;

/** The application's page, to which YARN's proxy leads: what runs where. */
final class ApplicationPage {
  private static final List<String> COLUMNS =
      List.of("Process", "State", "Node", "Container", "Restarts", "Note");

  private ApplicationPage() {}

  /** The page that shows {@code status}. */
  static StatusPage of(String name, StatusResponseProto status) {
    List<List<String>> rows =
        status.getComponentsList().stream().map(ApplicationPage::row).toList();
    long placed = status.getComponentsList().stream().filter(ComponentProto::hasContainer).count();
    return new StatusPage(
        name,
        List.of(
            new StatusPage.Section(
                status.getStopping() ? "Processes (being stopped)" : "Processes", COLUMNS, rows)),
        List.of(
            Metric.gauge("stele_yarn_processes", "Processes that should run", rows.size()),
            Metric.gauge(
                "stele_yarn_processes_placed", "Processes that have a container", placed)));
  }

  private static List<String> row(ComponentProto component) {
    return List.of(
        component.getId(),
        component.getState(),
        component.getNode(),
        component.getContainer(),
        Integer.toString(component.getRestarts()),
        component.getNote());
  }
}
