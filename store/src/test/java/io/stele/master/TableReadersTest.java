package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.master.ChangeRequest.Alter;
import io.stele.master.ChangeRequest.Create;
import io.stele.metadata.EndedChange;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.SchemaChange.Step;
import io.stele.model.Principal;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** The steps of changes that give the files of tables readers. */
class TableReadersTest {
  private static final TableSchema USERS = TableSchema.of("users", "f");

  private final MasterFixture master = new MasterFixture();

  private TableAdmin.Answer create(TableSchema schema) throws IOException {
    return master.ask("create", new Create(schema, List.of()));
  }

  private TableAdmin.Answer alter(String id, TableSchema schema) throws IOException {
    return master.ask(id, new Alter(schema, Optional.empty()));
  }

  private static void assertMade(TableAdmin.Answer answer) {
    assertThat(((TableAdmin.Answer.Ended) answer).change().failure()).isEmpty();
  }

  private SchemaChange running() throws IOException {
    return master.schemas.names().read("users").running().orElseThrow();
  }

  /** A master that did not do what was done before. */
  private void carryOn() throws Exception {
    TableChanges next =
        new TableChanges(master.process, master.schemas, master.steps(), master.signal);
    next.resume();
    for (int i = 0; i < 100 && next.advance(table -> true); i++) {
      master.sleep(Duration.ofMillis(50));
    }
  }

  private Path tablet(TableId table, String name) throws IOException {
    Path directory = new Path(master.layout.table(table), name);
    master.fs.mkdirs(directory);
    return directory;
  }

  private Path file(Path tablet, String name) throws IOException {
    Path file = new Path(tablet, name);
    master.fs.create(file).close();
    return file;
  }

  private List<String> named(Path path) {
    return master.fs.named(path);
  }

  @Test
  void aTableWithReadersHasItsDirectoryBeforeItsRecordsWhoeverCarriesItOn() throws Exception {
    master.run(
        () -> {
          master.fs.mkdirs(master.layout.root());
          master.fs.keepLists();
          create(USERS.withReaders("user:alice", "group:analysts"));
          SchemaChange change = running();
          Path directory = master.layout.table(change.table());
          SchemaSteps first = master.steps();
          assertThat(first.take(change)).isEqualTo(new SchemaSteps.Taken.Next(Step.MAKE_DIRECTORY));
          assertThat(master.fs.exists(directory)).isFalse();
          // The first master takes the step and dies before it writes so.
          assertThat(first.take(change.at(Step.MAKE_DIRECTORY)))
              .isEqualTo(new SchemaSteps.Taken.Next(Step.WRITE_RECORDS));
          assertThat(master.records.reader().readAll(change.table())).isEmpty();
          carryOn();
          assertMade(create(USERS.withReaders("user:alice", "group:analysts")));
          assertThat(master.fs.entries(directory))
              .containsExactlyInAnyOrder(
                  "user::rwx",
                  "group::---",
                  "other::---",
                  "user:alice:r-x",
                  "group:analysts:r-x",
                  "default:user::rwx",
                  "default:group::---",
                  "default:other::---",
                  "default:user:alice:r-x",
                  "default:group:analysts:r-x");
        });
  }

  @Test
  void anAlterationGivesAllFilesTheReadersOfTheSchemaWhoeverCarriesItOn() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users");
          Path top = master.layout.table(table);
          assertThat(master.fs.exists(top)).as("no readers: made with the first file").isFalse();
          master.fs.keepLists();
          Path tablet = tablet(table, "a");
          Path file = file(tablet, "1-1.sst");
          Path others = file(tablet, "1-2.sst");
          master.fs.makeForeign(others);
          alter("add", USERS.withReaders("user:alice"));
          SchemaChange change = running();
          SchemaSteps first = master.steps(); // Which dies after it has written the schema.
          assertThat(first.take(change)).isEqualTo(new SchemaSteps.Taken.Next(Step.GRANT_READING));
          carryOn();
          assertMade(alter("add", USERS.withReaders("user:alice")));
          assertThat(named(top)).containsExactly("default:user:alice:r-x", "user:alice:r-x");
          assertThat(named(tablet)).containsExactly("default:user:alice:r-x", "user:alice:r-x");
          assertThat(master.fs.entries(file))
              .containsExactly("group::---", "other::---", "user::rw-", "user:alice:r--");
          assertThat(named(others)).as("cannot be changed, and stops nothing").isEmpty();

          alter("other", USERS.withReaders("user:bob"));
          carryOn();
          assertThat(named(top)).containsExactly("default:user:bob:r-x", "user:bob:r-x");
          assertThat(named(file)).containsExactly("user:bob:r--");

          alter("none", USERS);
          carryOn();
          assertMade(alter("none", USERS));
          assertThat(master.fs.entries(top)).isEmpty();
          assertThat(master.fs.entries(tablet)).isEmpty();
          assertThat(master.fs.entries(file)).isEmpty();
        });
  }

  @Test
  void filesThatVanishMeanwhileDoNotStopAnAlteration() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users");
          master.fs.keepLists();
          Path tablet = tablet(table, "a");
          Path vanishing = file(tablet, "1-1.sst");
          Path staying = file(tablet, "1-2.sst");
          alter("add", USERS.withReaders("user:alice"));
          SchemaChange change = running();
          master.steps().take(change);
          master.fs.beforeNextList( // That of the table's directory.
              () -> master.fs.beforeNextList(() -> deleteWhenListed(vanishing)));
          assertThat(master.steps().take(change.at(Step.GRANT_READING)))
              .isEqualTo(new SchemaSteps.Taken.Next(Step.TELL_SERVERS));
          assertThat(named(staying)).containsExactly("user:alice:r--");
          assertThat(named(vanishing)).isEmpty();
        });
  }

  /** Right before the list of the tablet's directory is set; then the files are listed. */
  private void deleteWhenListed(Path file) {
    master.fs.beforeNextList(
        () -> {
          try {
            master.fs.delete(file, false);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @Test
  void aMasterThatIsLateGivesFilesTheReadersOfTheLastAlteration() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users");
          master.fs.keepLists();
          Path tablet = tablet(table, "a");
          Path file = file(tablet, "1-1.sst");
          alter("add", USERS.withReaders("user:alice"));
          SchemaChange late = running();
          SchemaSteps another = master.steps();
          another.take(late);
          // It stands still where it has read the readers and is about to set the first list.
          master.fs.beforeNextList(
              () -> {
                try {
                  carryOn();
                  alter("drop", USERS.withReaders("user:bob"));
                  carryOn();
                  assertMade(alter("drop", USERS.withReaders("user:bob")));
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
          another.take(late.at(Step.GRANT_READING));
          for (Path path : List.of(master.layout.table(table), tablet, file)) {
            assertThat(named(path)).isNotEmpty().allMatch(entry -> entry.contains("user:bob:r-"));
          }
        });
  }

  @Test
  void readersAreRefusedWhereTheFileSystemKeepsNoListsBeforeAnythingIsChanged() throws Exception {
    master.run(
        () -> {
          master.fs.mkdirs(master.layout.root());
          EndedChange refused =
              ((TableAdmin.Answer.Ended) create(USERS.withReaders("user:alice"))).change();
          assertThat(refused.failure().orElseThrow().code()).isEqualTo(Code.REFUSED);
          assertThat(refused.failure().orElseThrow().message())
              .contains("table users cannot have readers", "dfs.namenode.acls.enabled");
          assertThat(master.schemas.list().tables()).isEmpty();

          TableId table = master.table("users");
          EndedChange alteration =
              ((TableAdmin.Answer.Ended) alter("add", USERS.withReaders("user:alice"))).change();
          assertThat(alteration.failure().orElseThrow().message()).contains("cannot have readers");
          assertThat(master.schemas.table(table).orElseThrow().schema()).isEqualTo(USERS);
        });
  }

  @Test
  void aTableKeepsItsReadersWhereOtherSettingsChange() throws Exception {
    master.run(
        () -> {
          master.fs.mkdirs(master.layout.root());
          master.fs.keepLists();
          create(USERS.withReaders("user:alice"));
          carryOn();
          alter("hsync", USERS.withReaders("user:alice").withHsync(true));
          assertThat(master.steps().take(running()))
              .as("no files are walked for it")
              .isEqualTo(new SchemaSteps.Taken.Next(Step.TELL_SERVERS));
          carryOn();
          assertThat(master.schemas.require("users").schema().readers())
              .containsExactly(Principal.user("alice"));
        });
  }
}
