import { claimQuote } from '../bills/claim-quote.js';
import { limits } from '../../config/limits.js';
import { groupCommit } from '../shared/group-commit.js';
import { int64 } from '../shared/money.js';
import { inTransaction, isDuplicateKey, UnknownCommitError, type Session } from '../shared/mongo.js';
import { TransactionModel, type Transaction } from '../transactions/transaction.model.js';
import { insertTransactions } from '../transactions/insert-transactions.js';
import { insertJournals, move } from './journal.js';
import { WalletModel, type Wallet } from './wallet.model.js';

/** `duplicate`: the account already has a transaction with this ref_id, and nothing was debited now. */
export type DebitResult = 'debited' | 'insufficient' | 'duplicate';

/**
 * Debits a purchase: wallet −price, the transaction (PENDING) and its journal in one database transaction.
 *
 * Invariant (money.md 2–4): the balance is checked in the database, `seq` rises by one a purchase, and the
 * unique {accountId, refId} makes a second debit impossible. Purchases of one wallet that arrive together are
 * committed together; each gets its own answer, in the order of arrival.
 * @throws DependencyError when MongoDB is away: nothing was written, or (unknown commit) the same ref_id tells.
 */
export async function debitWallet(transaction: Transaction): Promise<DebitResult> {
  const key = `${transaction.accountId}:${transaction.refId}`;
  const first = underWay.get(key);
  if (first) {
    // A repeat that arrives while the first is being written shares its fate instead of colliding with it.
    return (await first) === 'insufficient' ? 'insufficient' : 'duplicate';
  }
  const debit =
    transaction.quoteId === null
      ? inGroups(transaction.accountId, transaction)
      : // A quote that is gone refuses its own payment only, so payments are not grouped.
        debitGroup(transaction.accountId, [transaction]).then(([result]) => result ?? 'insufficient');
  underWay.set(key, debit);
  return debit.finally(() => underWay.delete(key));
}

const underWay = new Map<string, Promise<DebitResult>>();

const inGroups = groupCommit<Transaction, DebitResult>({ itemsMax: limits.debitGroupMax, flush: debitGroup });

async function debitGroup(walletId: string, purchases: Transaction[]): Promise<DebitResult[]> {
  const results = new Map<Transaction, DebitResult>();
  let open = purchases;
  while (open.length > 0) {
    const group = open;
    try {
      const fitting = await inTransaction((session) => writeGroup(session, walletId, group));
      group.forEach((each) => results.set(each, fitting.has(each) ? 'debited' : 'insufficient'));
      open = [];
    } catch (error) {
      if (!isDuplicateKey(error) && !(error instanceof UnknownCommitError)) {
        throw error;
      }
      open = await withoutStored(group, results, error);
    }
  }
  return purchases.map((each) => results.get(each) ?? 'duplicate');
}

/** After a duplicate key or an unknown commit: what the database holds decides, the rest is tried again. */
async function withoutStored(
  group: Transaction[],
  results: Map<Transaction, DebitResult>,
  error: unknown,
): Promise<Transaction[]> {
  const stored = await TransactionModel.find(
    { accountId: group[0]?.accountId ?? '', refId: { $in: group.map((each) => each.refId) } },
    { refId: 1 },
  ).lean();
  const idByRef = new Map(stored.map((each) => [each.refId, each._id]));
  for (const each of group) {
    const id = idByRef.get(each.refId);
    if (id !== undefined) {
      results.set(each, id === each._id ? 'debited' : 'duplicate');
    }
  }
  const open = group.filter((each) => !results.has(each));
  if (open.length === group.length) {
    // Nothing explains the error: a commit that may still arrive, or a duplicate of another kind.
    throw error;
  }
  return open;
}

/** @returns the purchases that the balance covers, in the order of arrival; only these are written. */
async function writeGroup(
  session: Session,
  walletId: string,
  group: Transaction[],
): Promise<Set<Transaction>> {
  let fitting = group;
  let after = await takeFromWallet(session, walletId, { amount: sumOf(group), changes: group.length });
  if (!after) {
    const wallet = await WalletModel.findById(walletId).session(session).lean<Wallet>();
    fitting = wallet ? fittingWithin(wallet.balance, group) : [];
    if (fitting.length === 0) {
      return new Set();
    }
    after = await takeFromWallet(session, walletId, { amount: sumOf(fitting), changes: fitting.length });
    if (!after) {
      throw new Error(`Wallet ${walletId} changed inside a snapshot`);
    }
  }
  for (const each of fitting) {
    if (each.quoteId !== null) {
      await claimQuote(session, each.quoteId, each._id);
    }
  }
  await insertTransactions(session, fitting);
  await insertJournals(session, purchaseJournals(after, fitting));
  return new Set(fitting);
}

/** The guarded update: null where the balance does not cover the amount. */
async function takeFromWallet(
  session: Session,
  walletId: string,
  { amount, changes }: { amount: number; changes: number },
): Promise<Wallet | null> {
  return (await WalletModel.collection.findOneAndUpdate(
    { _id: walletId as never, balance: { $gte: int64(amount) } },
    { $inc: { balance: int64(-amount), seq: int64(changes) } },
    { session, returnDocument: 'after' },
  )) as Wallet | null;
}

function fittingWithin(balance: number, group: Transaction[]): Transaction[] {
  let left = balance;
  return group.filter((each) => {
    const fits = each.price <= left;
    left -= fits ? each.price : 0;
    return fits;
  });
}

function purchaseJournals(after: Wallet, group: Transaction[]) {
  let balance = after.balance + sumOf(group);
  let seq = after.seq - group.length;
  return group.map((each) => {
    balance -= each.price;
    seq += 1;
    return {
      kind: 'purchase' as const,
      subjectId: each._id,
      walletId: after._id,
      walletSeq: seq,
      balanceAfter: balance,
      lines: move(each.price, { from: `wallet:${after._id}`, to: 'platform:suspense' }),
    };
  });
}

function sumOf(group: Transaction[]): number {
  return group.reduce((total, each) => total + each.price, 0);
}
