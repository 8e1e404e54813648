import { lookUp } from '../shared/collections.js';
import { env } from '../../config/env.js';

/**
 * The shard key of each sharded collection (decision 052). `migrate --sharded` prints its commands
 * from this table. The posting engine uses the table to add the account to its filters.
 *
 * All collections except the totals are sharded by account, so that a group of postings is on one
 * shard. A collection stays unsharded if processes cache it, if it has few writers, or if it needs
 * a global unique index. A unique index of a sharded collection must begin with its shard key.
 */
export const shardKeys = {
  // Money, and documents that are written in the same transactions.
  wallets: ['_id'],
  journals: ['accountId'],
  transactions: ['accountId'],
  // In `attempts` and `sellerCredits`, `accountId` is the buyer's, because they are written in the
  // transaction of the purchase.
  attempts: ['accountId'],
  sellerCredits: ['accountId'],
  deposits: ['accountId'],
  settlements: ['accountId'],
  adjustments: ['accountId'],
  quotes: ['accountId'],
  deliveries: ['accountId'],
  requestLog: ['accountId'],
  // The ids begin with the account id.
  signBindings: ['_id'],
  walletCloses: ['walletId'],
  // A slot is stored with the accounts whose postings add to it. A base is stored with its own
  // account.
  dailyTotals: ['slot', 'accountId'],
} as const satisfies Record<string, readonly string[]>;

export type ShardedCollection = keyof typeof shardKeys;

/** Every other collection, with the reason why it is not sharded. */
export const unshardedCollections: Record<string, string> = {
  accounts: 'A username is unique in the whole service; processes cache accounts.',
  apiKeys: 'A key is found by its unique hash before its account is known; processes cache keys.',
  products: 'One catalogue for all; processes cache it.',
  offers: 'One price list for all; processes cache it.',
  markups: 'Few rules for all; processes cache them.',
  priceImports: 'One row per import by an operator.',
  priceImportRows: 'One row per offer that an import has changed.',
  providerStates: 'One row per seller; processes cache it.',
  operators: 'Few rows.',
  audit: 'Written when a person changes something, or a sale is reversed; read by subject and by actor.',
  auditCloses: 'Written when a day is closed, with the audit.',
  cases: 'Written when provider responses contradict each other; unique by subject.',
  bankLines: "Unique by the bank's data, before their account is known.",
  payments: "Unique by the notifier's own id, before its account is known.",
  dayCloses: 'One row per day; the roots are a chain over all accounts.',
  alarms: 'Few rows, while something is wrong.',
  samples: 'One row per provider and hour; written by each process every ten seconds at most.',
  ledgerVerifications: 'One row per day.',
  providerReconciliations: 'One row per provider and day.',
  clockRuns: 'One row per scheduled job.',
  totalsState: 'One row.',
  reports: 'Kept for a week; the rows are in GridFS, which stays unsharded too.',
  webhookReceivers: 'One row per address that fails or is slow.',
  failingJobs: 'One row per job that fails.',
};

/** True if the collection is sharded by `accountId` alone. */
export function isShardedByAccount(collection: string): boolean {
  const key: readonly string[] = lookUp<readonly string[]>(shardKeys, collection) ?? [];
  return key.length === 1 && key[0] === 'accountId';
}

/**
 * Number of ranges of account ids, which is one more than the number of splits. Each range is on
 * its own shard.
 */
export const shardRanges = env.MONGODB_SHARD_SPLITS.length + 1;

/**
 * Returns the index of an account's range in MONGODB_SHARD_SPLITS. It only makes commits cheaper by
 * keeping them on one shard. Wrong splits or a moved account cause no errors.
 */
export function getShardRange(accountId: string): number {
  return env.MONGODB_SHARD_SPLITS.filter((split) => split <= accountId).length;
}
