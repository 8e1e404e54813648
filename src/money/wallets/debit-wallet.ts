import { limits } from '../../../config/limits.js';
import { groupCommit } from '../../shared/group-commit.js';
import { int64 } from '../../database/money-type.js';
import { inTransaction, isDuplicateKey, UnknownCommitError, type Session } from '../../database/mongo.js';
import { insertJournals, move } from '../journals/insert-journals.js';
import { wallets, WalletModel, type Wallet } from './wallet.model.js';

/** One debit, for whatever its caller sells. */
export interface Debit {
  walletId: string;
  /** The client's reference, unique per wallet for ever. */
  refId: string;
  /** The document that the debit pays for; its journal names it. */
  subjectId: string;
  /** Rupiah. */
  amount: number;
  /** Its documents may refuse it for a reason of their own, so it shares its fate with no other debit. */
  alone: boolean;
}

/** What stands or falls with the debits: the room above brings it, money knows no purchases. */
export interface DebitDocuments<D extends Debit> {
  /** Writes the documents of debits that the balance covers, within their database transaction. */
  write(session: Session, debits: D[]): Promise<void>;
  /** Which of these references the database holds, and for which subject. */
  stored(walletId: string, refIds: string[]): Promise<Pick<Debit, 'refId' | 'subjectId'>[]>;
}

/** `duplicate`: something was accepted under this reference before, and nothing was debited now. */
export type DebitResult = 'debited' | 'insufficient' | 'duplicate';

/**
 * Makes the function that debits: wallet −amount, the caller's documents and the journal in one database transaction.
 *
 * Invariant: the balance is checked in the database, `seq` rises by one a debit, and the documents' unique key makes
 * a second debit impossible. Debits of one wallet that arrive together are committed together; each gets its own
 * answer, in the order of arrival.
 * @throws (the function it returns) DependencyError when MongoDB is away: nothing was written, or (unknown commit)
 *   the same reference tells; and what `documents.write` throws.
 */
export function createDebit<D extends Debit>(
  documents: DebitDocuments<D>,
): (debit: D) => Promise<DebitResult> {
  const underWay = new Map<string, Promise<DebitResult>>();
  const inGroups = groupCommit<D, DebitResult>({
    itemsMax: limits.debitGroupMax,
    flush: (_walletId, debits) => debitGroup(documents, debits),
  });
  return async (debit) => {
    const key = `${debit.walletId}:${debit.refId}`;
    const first = underWay.get(key);
    if (first) {
      // A repeat that arrives while the first is being written shares its fate instead of colliding with it.
      return (await first) === 'insufficient' ? 'insufficient' : 'duplicate';
    }
    const result = debit.alone
      ? debitGroup(documents, [debit]).then(([only]) => only ?? 'insufficient')
      : inGroups(debit.walletId, debit);
    underWay.set(key, result);
    return result.finally(() => underWay.delete(key));
  };
}

async function debitGroup<D extends Debit>(
  documents: DebitDocuments<D>,
  debits: D[],
): Promise<DebitResult[]> {
  const results = new Map<D, DebitResult>();
  let open = debits;
  while (open.length > 0) {
    const group = open;
    try {
      const fitting = await inTransaction((session) => writeGroup(session, documents, group));
      group.forEach((each) => results.set(each, fitting.has(each) ? 'debited' : 'insufficient'));
      open = [];
    } catch (error) {
      if (!isDuplicateKey(error) && !(error instanceof UnknownCommitError)) {
        throw error;
      }
      open = await withoutStored(documents, { group, results, error });
    }
  }
  return debits.map((each) => results.get(each) ?? 'duplicate');
}

/** After a duplicate key or an unknown commit: what the database holds decides, the rest is tried again. */
async function withoutStored<D extends Debit>(
  documents: DebitDocuments<D>,
  { group, results, error }: { group: D[]; results: Map<D, DebitResult>; error: unknown },
): Promise<D[]> {
  const stored = await documents.stored(
    walletOf(group),
    group.map((each) => each.refId),
  );
  const subjectByRef = new Map(stored.map((each) => [each.refId, each.subjectId]));
  for (const each of group) {
    const subjectId = subjectByRef.get(each.refId);
    if (subjectId !== undefined) {
      results.set(each, subjectId === each.subjectId ? 'debited' : 'duplicate');
    }
  }
  const open = group.filter((each) => !results.has(each));
  if (open.length === group.length) {
    // Nothing explains the error: a commit that may still arrive, or a duplicate of another kind.
    throw error;
  }
  return open;
}

/** @returns the debits that the balance covers, in the order of arrival; only these are written. */
async function writeGroup<D extends Debit>(
  session: Session,
  documents: DebitDocuments<D>,
  group: D[],
): Promise<Set<D>> {
  const walletId = walletOf(group);
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
  await documents.write(session, fitting);
  await insertJournals(session, journalsOf(after, fitting));
  return new Set(fitting);
}

/** A group is of one wallet. */
function walletOf(group: Debit[]): string {
  return group[0]?.walletId ?? '';
}

/** The guarded update: null where the balance does not cover the amount. */
async function takeFromWallet(
  session: Session,
  walletId: string,
  { amount, changes }: { amount: number; changes: number },
): Promise<Wallet | null> {
  return wallets.findOneAndUpdate(
    { _id: walletId, balance: { $gte: int64(amount) } },
    { $inc: { balance: int64(-amount), seq: int64(changes) } },
    { session, returnDocument: 'after' },
  );
}

function fittingWithin<D extends Debit>(balance: number, group: D[]): D[] {
  let left = balance;
  return group.filter((each) => {
    const fits = each.amount <= left;
    left -= fits ? each.amount : 0;
    return fits;
  });
}

function journalsOf(after: Wallet, group: Debit[]) {
  let balance = after.balance + sumOf(group);
  let seq = after.seq - group.length;
  return group.map((each) => {
    balance -= each.amount;
    seq += 1;
    return {
      kind: 'purchase' as const,
      subjectId: each.subjectId,
      walletId: after._id,
      walletSeq: seq,
      balanceAfter: balance,
      lines: move(each.amount, { from: `wallet:${after._id}`, to: 'platform:suspense' }),
    };
  });
}

function sumOf(group: Debit[]): number {
  return group.reduce((total, each) => total + each.amount, 0);
}
