import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import org.apache.hadoop.conf.Configuration;

/** A client that makes a table, writes a row and reads it. */
public class Pages {
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.addResource("stele-site.xml");
    try (Stele stele = Stele.connect(conf)) {
      stele.admin().createTable(TableSchema.of("pages", "contents", "anchor", "stats")); // once: a second run finds it there, and fails
      Table pages = stele.table("pages");

      pages.mutate(                                          // one row, all at once
          Mutation.of("com.example/index.html")
              .put("contents", "", "<html>...</html>")
              .put("anchor", "com.example/other.html", "look here"));

      Row now = pages.readModifyWrite(                       // counts once, however often it is retried
          ReadModifyWrite.increment("com.example/index.html", "stats", "visits", 1));

      try (Rows rows = pages.readRows(RowQuery.prefix("com.example/").family("anchor").limit(10))) {
        for (Row row : rows) {
          System.out.println(row.key() + " " + row.cells());
        }
      }
    }
  }
}
