package io.stele.outputformat;

import io.stele.model.CheckAndMutate;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import java.util.List;
import org.apache.hadoop.mapreduce.Counter;

/**
 * Counts what a task writes to tables.
 *
 * @param operations counts operations
 * @param edits counts edits in them; for a conditional mutation, those of both branches
 * @param bytes counts bytes of row keys, qualifiers and values in them
 */
record WriteCounters(Counter operations, Counter edits, Counter bytes) {
  void count(RowOperation operation) {
    operations.increment(1);
    bytes.increment(operation.row().length());
    switch (operation.kind()) {
      case MUTATION -> count(((Mutation) operation).edits());
      case CHECK_AND_MUTATE -> { // Which of them is applied only the server knows.
        count(((CheckAndMutate) operation).ifTrue().edits());
        count(((CheckAndMutate) operation).ifFalse().edits());
      }
      case READ_MODIFY_WRITE -> {
        for (ReadModifyWrite.Rule rule : ((ReadModifyWrite) operation).rules()) {
          long value =
              rule instanceof ReadModifyWrite.Append append ? append.suffix().length() : Long.BYTES;
          edits.increment(1);
          bytes.increment(rule.qualifier().length() + value);
        }
      }
    }
  }

  private void count(List<Edit> all) {
    long length = 0;
    for (Edit edit : all) {
      if (edit instanceof Edit.Put put) {
        length += put.qualifier().length() + put.value().length();
      }
    }
    edits.increment(all.size());
    bytes.increment(length);
  }
}
