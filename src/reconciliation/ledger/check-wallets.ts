import { Long, type Document, type Collection } from 'mongodb';
import { journals } from '../../money/journals/journal.model.js';
import { createKeyedStream, type KeyedStream, buildBatchReader, findSmallestKey } from './keyed-stream.js';
import { rawReadOptions } from './read-document.js';
import * as stored from './stored-documents.js';
import { accounts, type Role } from '../../accounts/account.model.js';
import { asUntyped, type AnyDocument } from '../../database/typed-collection.js';
import { wallets } from '../../money/wallets/wallet.model.js';
import { getStateAfter, checkStep, compareWallet, buildWalletFinding } from './check-journals.js';
import type { FindingLog, LedgerFinding, Progress } from './ledger-report.js';
import { readWithRetries } from './read-pages.js';

/**
 * Streams the journals of all wallets by account and sequence number, in batches that may end
 * within a wallet. A journal's account id is its wallet's id (check-journals.ts).
 */
export function streamWalletJournals(): KeyedStream {
  return createKeyedStream({
    readBatch: readNextBatch,
    keyOf: ({ accountId }) => (typeof accountId === 'string' ? accountId : null),
    positionOf: ({ accountId, walletSeq }) => `${String(accountId)} ${String(walletSeq)}`,
  });
}

/** Reads the journals of one wallet. */
export async function* readWalletJournals(walletId: string): AsyncGenerator<Document, void> {
  const stream = createKeyedStream({
    readBatch: (from, limit) => readWalletBatch(walletId, from, limit),
    keyOf: () => walletId,
    positionOf: ({ walletSeq }) => String(walletSeq),
  });
  while (stream.isEmpty()) {
    await stream.fill();
    yield* stream.take(walletId);
  }
}

async function readNextBatch(from: Document | null, limit: number): Promise<Document[]> {
  const walletId: unknown = from?.['accountId'];
  const own = typeof walletId === 'string' ? await readWalletBatch(walletId, from, limit) : [];
  return own.length === limit
    ? own
    : [
        ...own,
        ...(await readJournals(
          { accountId: buildAboveFilter(walletId), walletId: stringFilter },
          limit - own.length,
        )),
      ];
}

/** The filter of the partial index. Without it no query can use the index. */
const stringFilter = { $type: 'string' };

function buildAboveFilter(walletId: unknown) {
  return typeof walletId === 'string' ? { ...stringFilter, $gt: walletId } : stringFilter;
}

function readWalletBatch(walletId: string, from: Document | null, limit: number): Promise<Document[]> {
  const wallet = { accountId: walletId, walletId: { ...stringFilter, $eq: walletId } };
  const seq: unknown = from?.['walletSeq'];
  return readJournals(
    from === null ? wallet : { ...wallet, walletSeq: { $gte: isNumber(seq) ? seq : -Infinity } },
    limit,
  );
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || Long.isLong(value);
}

function readJournals(filter: Document, limit: number): Promise<Document[]> {
  return journals
    .find(filter, { ...rawReadOptions, projection: stored.journals.fields, batchSize: limit + 1 })
    .sort({ accountId: 1, walletId: 1, walletSeq: 1 })
    .limit(limit)
    .toArray();
}

interface Holder {
  id: string;
  /** Null if there is no account, or if its role is unknown. */
  role: Role | null;
  hasAccount: boolean;
  wallet: stored.ReadWallet | null;
  /** Findings about invalid fields. */
  problems: LedgerFinding[];
}

/** One broken journal makes all later ones look wrong, so only the first findings are reported. */
const findingsPerWallet = 3;

export interface WalletTotals {
  wallets: number;
  /** Sum of balances and held amounts, in rupiah. */
  sum: number;
}

/**
 * Checks rule 2 of docs/explanation/ledger.md#rules: each wallet against all its journals, by
 * `walletSeq`. One transaction writes a journal and its wallet, so a wallet at `seq` s has exactly
 * the journals 1 to s. A wallet that looks wrong is read again before it is reported.
 */
export async function checkWallets(log: FindingLog, progress: Progress): Promise<WalletTotals> {
  const streams = {
    accounts: streamById(asUntyped(accounts), stored.accounts.fields),
    wallets: streamById(asUntyped(wallets), stored.wallets.fields),
    journals: streamWalletJournals(),
  };
  const all = Object.values(streams);
  const total = await wallets.estimatedDocumentCount();
  const totals = { wallets: 0, sum: 0 };
  for (let id = await findSmallestKey(all); id !== null; id = await findSmallestKey(all)) {
    const [account] = streams.accounts.take(id);
    const [wallet] = streams.wallets.take(id);
    const holder = buildHolder(id, account, wallet);
    const { findings, lastSeq } = await compareWithJournals(holder, takeAll(streams.journals, id));
    // An account is created together with its wallet. If either is missing, both are read again.
    if (findings.length > 0 || !holder.hasAccount || !holder.wallet || lastSeq > holder.wallet.seq) {
      (await recheckWallet(id)).forEach((finding) => log.add(finding));
    }
    totals.wallets += holder.wallet ? 1 : 0;
    totals.sum += holder.wallet ? holder.wallet.balance + holder.wallet.held : 0;
    progress({ what: 'wallets', done: totals.wallets, total });
  }
  return totals;
}

function streamById(collection: Collection<AnyDocument>, fields: Document): KeyedStream {
  const keyOf = ({ _id }: Document) => (typeof _id === 'string' ? _id : null);
  return createKeyedStream({
    readBatch: buildBatchReader(collection, '_id', { fields }),
    keyOf,
    positionOf: (document) => keyOf(document) ?? '',
  });
}

/** Takes all journals of a wallet, even across several batches. */
async function* takeAll(stream: KeyedStream, id: string): AsyncGenerator<Document, void> {
  for (;;) {
    yield* stream.take(id);
    if (!stream.isEmpty()) {
      return;
    }
    await stream.fill();
  }
}

function buildHolder(
  id: string,
  account: Document | null | undefined,
  wallet: Document | null | undefined,
): Holder {
  const problems: LedgerFinding[] = [];
  return {
    id,
    role: account ? stored.accounts.read(account, problems).role : null,
    hasAccount: Boolean(account),
    wallet: wallet ? stored.wallets.read(wallet, problems) : null,
    problems,
  };
}

/**
 * Checks one wallet again. The wallet is read before its journals, so that no journal is missing.
 */
async function recheckWallet(id: string): Promise<LedgerFinding[]> {
  const account = await readOne(asUntyped(accounts), id, stored.accounts.fields);
  const holder = buildHolder(id, account, await readOne(asUntyped(wallets), id, stored.wallets.fields));
  const { findings, lastSeq } = await compareWithJournals(holder, readWalletJournals(id));
  const { wallet } = holder;
  const seqNow = wallet && lastSeq > wallet.seq ? await readSeq(id) : lastSeq;
  if (seqNow < lastSeq) {
    findings.push(
      buildWalletFinding('wallet-sequence', id, `its journals run to ${lastSeq}, beyond its seq ${seqNow}`),
    );
  }
  if (!account || !wallet) {
    const message = account ? 'the account has no wallet' : 'the wallet has no account';
    findings.push(buildWalletFinding('wallet-account', id, message));
  }
  return findings;
}

async function readSeq(id: string): Promise<number> {
  const wallet = await readOne(asUntyped(wallets), id, stored.wallets.fields);
  return wallet ? stored.wallets.read(wallet, []).seq : 0;
}

function readOne(
  collection: Collection<AnyDocument>,
  id: string,
  fields: Document,
): Promise<Document | null> {
  return readWithRetries(() => collection.findOne({ _id: id }, { ...rawReadOptions, projection: fields }));
}

async function compareWithJournals(
  holder: Holder,
  source: AsyncIterable<Document>,
): Promise<{ findings: LedgerFinding[]; lastSeq: number }> {
  const { id, wallet, problems } = holder;
  const findings: LedgerFinding[] = [];
  let at = { seq: 0, balance: 0, held: 0 };
  let atWallet = wallet?.seq === 0 ? at : null;
  for await (const raw of source) {
    // Findings about a journal's fields are reported with the journal's subject.
    const journal = stored.journals.read(raw, []);
    findings.push(...checkStep(holder, journal, at));
    at = getStateAfter(id, journal, at);
    atWallet = at.seq === wallet?.seq ? at : atWallet;
    // Limits memory for a long history.
    findings.splice(findingsPerWallet);
  }
  if (!wallet) {
    return {
      findings:
        at.seq > 0 ? [buildWalletFinding('wallet-sequence', id, 'it is missing, but has journals')] : [],
      lastSeq: at.seq,
    };
  }
  findings.push(...compareWallet(id, wallet, { atWallet, last: at.seq }));
  return { findings: [...problems, ...findings.slice(0, findingsPerWallet)], lastSeq: at.seq };
}
