import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;

/** A job that counts the anchors of each host. */
public class AnchorsOfHosts {
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.addResource("stele-site.xml");
    conf.addResource("hadoop-client.xml");                                       // the demo's Hadoop; yours is in HADOOP_CONF_DIR
    Job job = SteleJob.create(conf, "anchors of hosts", AnchorsOfHosts.class);   // ships our jars and yours
    TableInputFormat.addTable(job, "pages", RowQuery.ALL.family("anchor"));
    job.setMapperClass(HostMapper.class);
    job.setCombinerClass(LongSumReducer.class);
    job.setReducerClass(LongSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(LongWritable.class);
    FileOutputFormat.setOutputPath(job, new Path(args[0]));
    System.exit(job.waitForCompletion(true) ? 0 : 1);
  }

  static class HostMapper extends Mapper<Bytes, Row, Text, LongWritable> {
    @Override
    protected void map(Bytes key, Row row, Context context) throws IOException, InterruptedException {
      String host = key.toUtf8().split("/", 2)[0];
      context.write(new Text(host), new LongWritable(row.cells().size()));
    }
  }
}
