/**
 * How the collections lie on the shards of a cluster, as data: `migrate --sharded` prints the commands from it, the
 * posting engine names the account of what it changes by it, and a test holds every command against it. Unsharded is
 * what everybody reads from memory, what few people write, and what must be unique in all of the service: a unique
 * index of a sharded collection begins with its shard key. Why these keys: decision 052.
 */
import { lookUp } from '../shared/collections.js';
import { env } from '../../config/env.js';

/** The shard key of each sharded collection. All but the totals lie by account, so that a group of postings is on one shard. */
export const shardKeys = {
  // Money, and what moves with it.
  wallets: ['_id'],
  journals: ['accountId'],
  transactions: ['accountId'],
  // The buyer's, as the next two lines are: written with the purchase.
  attempts: ['accountId'],
  sellerCredits: ['accountId'],
  deposits: ['accountId'],
  settlements: ['accountId'],
  adjustments: ['accountId'],
  quotes: ['accountId'],
  deliveries: ['accountId'],
  requestLog: ['accountId'],
  // Its ids begin with the account.
  signBindings: ['_id'],
  walletCloses: ['walletId'],
  // A slot lies with the accounts whose postings add to it, whoever's totals they are; a base with its own account.
  dailyTotals: ['slot', 'accountId'],
} as const satisfies Record<string, readonly string[]>;

export type ShardedCollection = keyof typeof shardKeys;

/** Every other collection, and why it stays on one shard. */
export const unshardedCollections: Record<string, string> = {
  accounts: 'A username is unique in all of the service; processes remember accounts.',
  apiKeys:
    'A key is found by its hash, before its account is known, and is unique by it; processes remember keys.',
  products: 'One catalogue for all; processes remember it.',
  offers: 'One price list for all; processes remember it.',
  markups: 'Few rules for all; processes remember them.',
  priceImports: 'One row an import by an operator.',
  priceImportRows: 'One row for an offer that an import has changed.',
  providerStates: 'One row a seller; processes remember it.',
  operators: 'Few people.',
  audit: 'Written when a person changes something, or a sale is taken back; read by subject and by actor.',
  auditCloses: 'Written when a day is closed, with the audit.',
  cases: 'Written when something contradicts; unique by what it is about.',
  bankLines: 'Unique by what the bank says, before their account is known.',
  payments: "Unique by the notifier's own id, before its account is known.",
  dayCloses: 'One row a day; the roots are a chain over all accounts.',
  alarms: 'Few rows, while something is wrong.',
  samples: 'A row for a provider and hour; written by each process every ten seconds at most.',
  ledgerVerifications: 'One row a day.',
  providerReconciliations: 'One row a provider and day.',
  clockRuns: 'One row for each kind of work by the clock.',
  totalsState: 'One row.',
  reports: 'Kept for a week; the rows are in GridFS, which stays unsharded too.',
  webhookReceivers: 'One row for an address that fails or is slow.',
  failingJobs: 'One row for a job that fails.',
};

/** True if documents of this collection lie by their `accountId` alone. */
export function isShardedByAccount(collection: string): boolean {
  const key: readonly string[] = lookUp<readonly string[]>(shardKeys, collection) ?? [];
  return key.length === 1 && key[0] === 'accountId';
}

/** Ranges of account ids, each on a shard of its own: one more than there are splits. */
export const shardRanges = env.MONGODB_SHARD_SPLITS.length + 1;

/**
 * The range that an account is in, by its place among MONGODB_SHARD_SPLITS. It only saves work (one shard to commit on
 * rather than several): processes with other splits, or an account that has moved, do nothing wrong.
 */
export function getShardRange(accountId: string): number {
  return env.MONGODB_SHARD_SPLITS.filter((split) => split <= accountId).length;
}
