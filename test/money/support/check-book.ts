/**
 * Compares the results that clients got with the stored documents, without using code of the
 * service.
 */
import { expect } from 'chai';
import type { Db, Document } from 'mongodb';
import type { RequestedMovement, Book } from './book.js';
import { approvalThreshold } from './operations.js';

type Row = Document & { _id: string };

interface StoredBook {
  wallets: Row[];
  journals: Row[];
  deposits: Row[];
  transactions: Row[];
  settlements: Row[];
  adjustments: Row[];
  /** Stored closes of the wallets. */
  walletCloses: Row[];
  /** Stored closes of days, with their roots. */
  dayCloses: Row[];
  credits: Row[];
  quotes: Row[];
}

const journalKinds: Record<RequestedMovement['collection'], Record<string, string[]>> = {
  deposits: { completed: ['deposit'] },
  transactions: {
    PENDING: ['purchase'],
    PROCESSING: ['purchase'],
    SUCCESS: ['purchase', 'success'],
    FAILED: ['purchase', 'refund'],
    REFUNDED: ['purchase', 'reversal', 'success'],
  },
  settlements: {
    pending: ['settlement-request'],
    processing: ['settlement-request'],
    completed: ['settlement-completed', 'settlement-request'],
    failed: ['settlement-failed', 'settlement-request'],
  },
  adjustments: { pending: [], completed: ['adjustment'], rejected: [] },
};

/** Collections of the documents that clients and operators request. */
const requestedCollections = ['deposits', 'transactions', 'settlements', 'adjustments'] as const;

/**
 * Checks a book at the end of its history. No call may be running, and all credits must be posted.
 */
export async function checkBook(db: Db, book: Book): Promise<void> {
  const stored = await readStored(db, book);
  for (const asked of book.asked) {
    checkAsked(asked, stored);
  }
  const documents = requestedCollections.reduce((sum, collection) => sum + stored[collection].length, 0);
  const named = book.asked.reduce((sum, each) => sum + documentsOf(each, stored).length, 0);
  expect(documents, 'stored documents without a request').to.equal(named);
  for (const { collection, id, status } of book.receivedStatuses) {
    const now = String(stored[collection].find((each) => each._id === id)?.['status']);
    const later: Record<string, string[]> = {
      SUCCESS: ['REFUNDED'],
      PENDING: ['PROCESSING', 'SUCCESS', 'FAILED', 'REFUNDED'],
      PROCESSING: ['SUCCESS', 'FAILED', 'REFUNDED'],
      pending: ['processing', 'completed', 'failed', 'rejected'],
      processing: ['completed', 'failed'],
    };
    expect([status, ...(later[status] ?? [])], `${collection} ${id}, reported as ${status}`).to.include(now);
  }
  checkSubjects(stored);
  stored.wallets.forEach((wallet) => checkChain(wallet, stored, book));
  checkBalances(stored, book);
  checkQuotes(stored);
  checkCloses(stored, book);
  const refused = book.asked.filter((each) => each.heard === 'insufficient');
  for (const asked of [...refused, ...book.uncovered]) {
    checkInsufficient(asked, stored, book);
  }
}

async function readStored(db: Db, book: Book): Promise<StoredBook> {
  const ids = [...book.buyers, book.seller];
  const read = (collection: string, filter: object) =>
    db.collection<Row>(collection).find(filter).toArray() as unknown as Promise<Row[]>;
  const own = { accountId: { $in: ids } };
  const days = book.closed.map(({ day }) => day);
  const [wallets, journals, deposits, transactions, settlements, credits, quotes, ...rest] =
    await Promise.all([
      read('wallets', { _id: { $in: ids } }),
      read('journals', own),
      read('deposits', own),
      read('transactions', own),
      read('settlements', own),
      read('sellerCredits', { sellerId: book.seller }),
      read('quotes', own),
      read('adjustments', own),
      read('walletCloses', { walletId: { $in: ids } }),
      read('dayCloses', { _id: { $in: days } }),
    ]);
  const [adjustments, walletCloses, dayCloses] = rest;
  return {
    wallets,
    journals,
    deposits,
    transactions,
    settlements,
    credits,
    quotes,
    adjustments,
    walletCloses,
    dayCloses,
  };
}

function documentsOf({ collection, accountId, name }: RequestedMovement, stored: StoredBook): Row[] {
  return stored[collection].filter(
    (row) =>
      row['accountId'] === accountId &&
      ('refId' in name
        ? row['refId'] === name.refId
        : 'reason' in name
          ? row['reason'] === name.reason
          : (row['bankAccount'] as Document | undefined)?.['accountNumber'] ===
            name['bankAccount.accountNumber']),
  );
}

function checkAsked(asked: RequestedMovement, stored: StoredBook): void {
  const found = documentsOf(asked, stored);
  const what = `${asked.collection} ${JSON.stringify(asked.name)} (${asked.change}), ${asked.heard}`;
  switch (asked.heard) {
    case 'accepted':
      expect(
        found.map(({ _id }) => _id),
        what,
      ).to.deep.equal([asked.id]);
      break;
    case 'insufficient':
    case 'nothing':
      expect(found, what).to.have.length(0);
      break;
    case 'conflict': {
      expect(found, what).to.have.length(0);
      const quote = stored.quotes.find(({ _id }) => _id === asked.quoteId);
      expect(quote?.['usedBy'], `${what}: another payment of this bill`).to.be.a('string');
      break;
    }
    case 'unknown':
      expect(found.length, what).to.be.at.most(1);
  }
  // An adjustment that was rejected or waits for approval has moved no money.
  for (const { _id } of found.filter(hasMoved)) {
    const [first] = stored.journals.filter((each) => each['subjectId'] === _id && isFirst(each));
    expect(first && amountOf(first, `wallet:${asked.accountId}`), what).to.equal(asked.change);
  }
}

function hasMoved({ status, requestedBy }: Row): boolean {
  return requestedBy === undefined || status === 'completed';
}

function isFirst({ kind }: Document): boolean {
  return ['deposit', 'purchase', 'settlement-request', 'adjustment'].includes(String(kind));
}

function amountOf(journal: Document, account: string): number {
  return (journal['lines'] as { account: string; amount: number }[])
    .filter((line) => line.account === account)
    .reduce((sum, line) => sum + line.amount, 0);
}

function checkSubjects(stored: StoredBook): void {
  for (const collection of requestedCollections) {
    for (const { _id, status } of stored[collection]) {
      const kinds = stored.journals
        .filter((each) => each['subjectId'] === _id)
        .map(({ kind }) => String(kind));
      const wanted = journalKinds[collection][String(status)];
      expect(kinds.sort(), `journals of ${collection} ${_id}, ${String(status)}`).to.deep.equal(wanted);
    }
  }
}

/** Returns the journals of a wallet in the order of their seq. */
function chainOf(walletId: string, { journals }: StoredBook): Row[] {
  return journals
    .filter((each) => each['walletId'] === walletId)
    .sort((a, b) => Number(a['walletSeq']) - Number(b['walletSeq']));
}

function checkChain({ _id, ...wallet }: Row, stored: StoredBook, book: Book): void {
  let [balance, held] = [0, 0];
  const chain = chainOf(_id, stored);
  chain.forEach((journal, index) => {
    balance += amountOf(journal, `wallet:${_id}`);
    held += amountOf(journal, `held:${_id}`);
    const what = `wallet ${_id} after its journal ${index + 1}, ${String(journal['kind'])}`;
    expect([journal['walletSeq'], journal['balanceAfter']], what).to.deep.equal([index + 1, balance]);
    expect(held, what).to.be.at.least(0);
    if (_id !== book.seller) {
      expect(balance, what).to.be.at.least(0);
    }
  });
  expect(wallet, `wallet ${_id}`).to.deep.include({ balance, held, seq: chain.length });
}

/** Checks the wallet balances against the accepted amounts and outcomes in the documents. */
function checkBalances(stored: StoredBook, book: Book): void {
  const sum = (rows: Row[], field: string) => rows.reduce((total, row) => total + Number(row[field]), 0);
  const of = (rows: Row[], accountId: string, ...statuses: string[]) =>
    rows.filter((row) => row['accountId'] === accountId && statuses.includes(String(row['status'])));
  const balanceOf = (id: string) => stored.wallets.find(({ _id }) => _id === id)?.['balance'] as number;
  for (const id of book.buyers) {
    const paid = of(stored.transactions, id, 'PENDING', 'PROCESSING', 'SUCCESS');
    const added = [...of(stored.deposits, id, 'completed'), ...of(stored.adjustments, id, 'completed')];
    expect(balanceOf(id), `balance of buyer ${id}`).to.equal(sum(added, 'amount') - sum(paid, 'price'));
  }
  const sold = stored.transactions.filter(({ status }) => status === 'SUCCESS');
  const taken = of(stored.settlements, book.seller, 'pending', 'processing', 'completed');
  expect(
    stored.credits.filter(({ status }) => status !== 'posted'),
    'credits not posted',
  ).to.have.length(0);
  expect(balanceOf(book.seller), 'balance of the seller').to.equal(
    sum(sold, 'price') -
      sum(sold, 'commissionAmount') -
      sum(taken, 'amount') +
      sum(of(stored.adjustments, book.seller, 'completed'), 'amount'),
  );
}

/**
 * Checks each wallet close: it starts where the previous close ended and has the wallet's balance
 * at that point. Checks also that every root returned to a client is stored.
 */
function checkCloses(stored: StoredBook, book: Book): void {
  for (const { _id: id } of stored.wallets) {
    const chain = chainOf(id, stored);
    const rows = stored.walletCloses
      .filter(({ walletId }) => walletId === id)
      .sort((a, b) => Number(a['firstSeq']) - Number(b['firstSeq']));
    rows.forEach((row, index) => {
      const what = `close of wallet ${id} on ${String(row['day'])}`;
      expect(row['firstSeq'], what).to.equal(Number(rows[index - 1]?.['lastSeq'] ?? 0) + 1);
      expect(row['balance'], what).to.equal(chain[Number(row['lastSeq']) - 1]?.['balanceAfter']);
    });
  }
  for (const { day, root } of book.closed) {
    const found = stored.dayCloses.find(({ _id }) => _id === day);
    expect(found?.['root'], `the root of ${day}`).to.equal(root);
  }
}

function checkQuotes({ quotes, transactions }: StoredBook): void {
  for (const { _id, usedBy } of quotes) {
    const payments = transactions.filter((each) => each['quoteId'] === _id).map((each) => each._id);
    expect(payments, `payments of bill ${_id}`).to.deep.equal(usedBy === null ? [] : [usedBy]);
  }
}

/**
 * Checks that the wallet's balance was insufficient at some moment during the call. A balance
 * exists from the commit of its journal, which is after `createdAt`, until the next commit. That
 * commit ends before any caller gets its result.
 */
function checkInsufficient(
  asked: Pick<RequestedMovement, 'accountId' | 'change' | 'fromMs' | 'toMs'>,
  stored: StoredBook,
  book: Book,
): void {
  const chain = chainOf(asked.accountId, stored);
  // The operator who requests an adjustment that needs approval does not learn when it is posted.
  const confirmed = book.asked.filter(
    ({ collection, id, change }) =>
      id !== null && (collection !== 'adjustments' || Math.abs(change) < approvalThreshold),
  );
  const commitTimeMs = (journal: Row) =>
    confirmed.find(({ id }) => id === journal['subjectId'] && isFirst(journal))?.toMs ?? Infinity;
  const states = [{ balance: 0, fromMs: 0 }].concat(
    chain.map((journal) => ({
      balance: Number(journal['balanceAfter']),
      fromMs: (journal['createdAt'] as Date).getTime(),
    })),
  );
  const possible = states.filter(
    ({ fromMs }, index) =>
      fromMs <= asked.toMs && Math.min(Infinity, ...chain.slice(index).map(commitTimeMs)) >= asked.fromMs,
  );
  expect(
    possible.some(({ balance }) => balance + asked.change < 0),
    `${-asked.change} was refused at ${asked.fromMs} to ${asked.toMs}, with ${JSON.stringify(states)}`,
  ).to.equal(true);
}
