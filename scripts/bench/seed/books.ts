import { toInt64 } from '../../../src/database/typed-collection.js';
import { journals, type JournalKind, type JournalLine } from '../../../src/money/journals/journal.model.js';
import { buildJournal } from '../../../src/money/journals/new-journal.js';
import { wallets } from '../../../src/money/wallets/wallet.model.js';
import type { BulkWriter } from './bulk-writer.js';
import type { Chance } from './chance.js';

/** One journal, in rupiah. Without `balance` and `held` no wallet changes. */
export interface Movement {
  accountId: string;
  kind: JournalKind;
  subjectId: string;
  atMs: number;
  balance?: number;
  held?: number;
  lines: JournalLine[];
}

/**
 * Wallets and their journals in the form that postings write: one journal per change, ordered by
 * `seq` and time.
 */
export interface Books {
  /** @returns The balance after the movement. 0 if it changes no wallet. */
  post(movement: Movement): number;
  /** Posts the movement before the first later movement of its wallet. */
  postLater(movement: Movement): void;
  balanceOf(accountId: string): number;
  /** Writes the pending movements and the wallets of these accounts. */
  end(accountIds: readonly string[]): Promise<void>;
}

const walletBatchSize = 500;

export function createBooks(writer: BulkWriter, chance: Chance): Books {
  const stand = new Map<string, { balance: number; held: number; seq: number }>();
  const later = new Map<string, Movement[]>();
  const walletOf = (accountId: string) => {
    const wallet = stand.get(accountId) ?? { balance: 0, held: 0, seq: 0 };
    stand.set(accountId, wallet);
    return wallet;
  };
  const write = ({ balance, held, atMs, ...movement }: Movement): number => {
    const wallet = balance === undefined && held === undefined ? null : walletOf(movement.accountId);
    if (wallet) {
      wallet.balance += balance ?? 0;
      wallet.held += held ?? 0;
      wallet.seq += 1;
    }
    const journal = buildJournal(chance.idAt(atMs), movement, wallet);
    writer.add(journals.collectionName, { ...journal, createdAt: new Date(atMs) });
    return wallet?.balance ?? 0;
  };
  const catchUp = (accountId: string, untilMs: number) => {
    const waiting = later.get(accountId);
    if (waiting === undefined) {
      return;
    }
    waiting.sort((a, b) => a.atMs - b.atMs);
    const due = waiting.filter(({ atMs }) => atMs <= untilMs);
    due.forEach(write);
    const left = waiting.slice(due.length);
    if (left.length === 0) {
      later.delete(accountId);
    } else {
      later.set(accountId, left);
    }
  };
  return {
    post(movement) {
      if (movement.balance !== undefined) {
        catchUp(movement.accountId, movement.atMs);
      }
      return write(movement);
    },
    postLater(movement) {
      later.set(movement.accountId, [...(later.get(movement.accountId) ?? []), movement]);
    },
    balanceOf: (accountId) => walletOf(accountId).balance,
    async end(accountIds) {
      [...later.keys()].forEach((accountId) => {
        catchUp(accountId, Infinity);
      });
      for (let at = 0; at < accountIds.length; at += walletBatchSize) {
        await wallets.bulkWrite(
          accountIds.slice(at, at + walletBatchSize).map((_id) => {
            const { balance, held, seq } = walletOf(_id);
            const replacement = { balance: toInt64(balance), held: toInt64(held), seq: toInt64(seq) };
            return { replaceOne: { filter: { _id }, replacement, upsert: true } };
          }),
          { ordered: false },
        );
      }
    },
  };
}
