import { int64 } from '../shared/money.js';
import type { Session } from '../shared/mongo.js';
import { TransactionModel, type Transaction } from './transaction.model.js';

/** Writes new transactions as they are, without building mongoose documents (the hot path), money as int64. */
export async function insertTransactions(session: Session, transactions: Transaction[]): Promise<void> {
  await TransactionModel.collection.insertMany(
    transactions.map((each) => ({ ...each, price: int64(each.price) }) as never),
    { session },
  );
}
