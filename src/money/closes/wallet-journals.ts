import type { FindOptions } from 'mongodb';
import { int64 } from '../../database/money-type.js';
import { journals, type Journal } from '../journals/journal.model.js';

/** Of a wallet's journals those after one `seq` and up to another, in their order. Read by the index `account_wallet_seq_unique`. */
export function findWalletJournals(
  walletId: string,
  { after, to }: { after: number; to?: number },
  options: FindOptions = {},
) {
  return journals
    .find<Journal>(
      {
        ...buildWalletFilter(walletId),
        walletSeq: { $gt: int64(after), ...(to !== undefined && { $lte: int64(to) }) },
      },
      options,
    )
    .sort({ walletSeq: 1 });
}

/** A wallet's own: the account is its shard, and the partial index needs to be told the type. */
export function buildWalletFilter(walletId: string) {
  return { accountId: walletId, walletId: { $eq: walletId, $type: 'string' as const } };
}
