import { isDuplicateKey } from '../../database/mongo.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';

const insertBatchSize = 500;

/**
 * Stores lines that no earlier statement contained. Lines that another call stores concurrently are
 * stored once.
 * @returns The number of lines that this call stored.
 */
export async function insertNewLines(lines: readonly BankLine[]): Promise<number> {
  let count = 0;
  for (const some of splitIntoChunks(lines, insertBatchSize)) {
    count += await insertChunk(some);
  }
  return count;
}

async function insertChunk(rows: BankLine[]): Promise<number> {
  try {
    await BankLineModel.insertMany(rows, { ordered: false });
    return rows.length;
  } catch (error) {
    // Another call has stored the same lines concurrently.
    if (isDuplicateKey(error)) {
      const ids = rows.map(({ _id }) => _id);
      return BankLineModel.countDocuments({ _id: { $in: ids } });
    }
    throw error;
  }
}
