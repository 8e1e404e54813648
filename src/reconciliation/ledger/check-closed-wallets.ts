import type { Filter } from 'mongodb';
import { exactReadOptions } from '../../money/closes/canonical-text.js';
import { toPlainNumber } from '../../money/closes/close-hash.js';
import { walletCloses } from '../../money/closes/wallet-close.model.js';
import { journals, type Journal } from '../../money/journals/journal.model.js';
import { wallets, type Wallet } from '../../money/wallets/wallet.model.js';
import { groupBy, collectChunks } from '../../shared/collections.js';
import { readSubjectFacts } from '../closes/subject-facts.js';
import { createClosedWallet, type ClosedWallet, type WalletState } from './closed-wallet.js';
import { readPages, readWithRetries } from './read-pages.js';
import type { FindingLog, OnPart, Progress } from './ledger-report.js';

const walletsPerPage = 100;
const journalsPerChunk = 1_000;

/** Checks of the data that no close covers yet. */
export interface OpenPart {
  /** Called with all wallets in a range of ids. */
  range(ids: IdRange, wallets: readonly Wallet[]): Promise<void>;
  /** Called with a wallet's journals after its last close. */
  journals(of: readonly Journal[]): Promise<void>;
  /** Called with a wallet's state at its last close and its state after its last journal. */
  wallet(
    wallet: Wallet | null,
    found: { id: string; closed: WalletState; standing: WalletState; isGapless: boolean },
  ): Promise<void>;
}

/**
 * Checks every wallet's journals against the closes up to a day, in one pass along the index on
 * wallet and `seq`. Subjects are read for a thousand journals at a time.
 * @returns The number of closed journals.
 */
export async function checkClosedWallets(
  log: FindingLog,
  lastDay: string,
  { progress, onPart, open }: { progress: Progress; onPart: OnPart; open: OpenPart | null },
): Promise<number> {
  const total = await wallets.estimatedDocumentCount();
  let closedJournals = 0;
  let done = 0;
  let after: string | null = '';
  while (after !== null) {
    const page: Wallet[] = await wallets
      .find<Wallet>({ _id: { $gt: after } }, exactReadOptions)
      .sort({ _id: 1 })
      .limit(walletsPerPage)
      .toArray();
    // Read by id range, so that journals and closes of a deleted wallet are found too.
    const isLast: boolean = page.length < walletsPerPage;
    const last: string | undefined = page.at(-1)?._id;
    const range = {
      $gt: after,
      ...(!isLast && last !== undefined && { $lte: last }),
      $type: 'string' as const,
    };
    closedJournals += await checkPage(log, { page, range, lastDay, onPart, open });
    done += page.length;
    progress({ what: 'wallets', done, total });
    after = isLast ? null : (last ?? null);
  }
  return closedJournals;
}

export interface IdRange {
  $gt: string;
  $lte?: string;
  $type: 'string';
}

interface Page {
  page: Wallet[];
  range: IdRange;
  lastDay: string;
  onPart: OnPart;
  open: OpenPart | null;
}

async function checkPage(log: FindingLog, { page, range, lastDay, onPart, open }: Page): Promise<number> {
  // The wallet and day of a row never change, so each row is read once.
  const rows = await readWithRetries(() =>
    walletCloses
      .find({ walletId: range, day: { $lte: lastDay } })
      .sort({ walletId: 1, day: 1 })
      .toArray(),
  );
  const rowsOf = groupBy(rows, ({ walletId }) => walletId);
  const found = new Map<string, ClosedWallet>();
  const walletOf = (id: string): ClosedWallet => {
    const known = found.get(id) ?? createClosedWallet(id, rowsOf.get(id) ?? []);
    found.set(id, known);
    return known;
  };
  [...page.map(({ _id }) => _id), ...rowsOf.keys()].forEach(walletOf);
  for await (const chunk of collectChunks(readJournals(range), journalsPerChunk)) {
    const isClosed = ({ accountId, walletSeq }: Journal) =>
      toPlainNumber(walletSeq) <= walletOf(accountId).closed.seq;
    const factsOf = await readSubjectFacts(chunk.filter(isClosed));
    const rest = chunk.filter(
      (journal) => !walletOf(journal.accountId).take(journal, isClosed(journal) ? factsOf(journal).text : ''),
    );
    await open?.journals(rest);
    onPart();
  }
  await open?.range(range, page);
  const walletById = new Map(page.map((wallet) => [wallet._id, wallet]));
  let closedJournals = 0;
  for (const [id, wallet] of found) {
    const { findings, journals: ofClosedDays, standing, isGapless } = wallet.end();
    findings.forEach((each) => log.add(each));
    closedJournals += ofClosedDays;
    await open?.wallet(walletById.get(id) ?? null, { id, closed: wallet.closed, standing, isGapless });
  }
  return closedJournals;
}

/** Reads all journals with a wallet, in the order of their index. */
function readJournals(range: IdRange): AsyncGenerator<Journal> {
  const inOrder = (accountId: object | string, rest: object) =>
    journals
      .find<Journal>(
        { accountId, walletId: { $type: 'string' }, ...rest } as Filter<Journal>,
        exactReadOptions,
      )
      .sort({ accountId: 1, walletId: 1, walletSeq: 1 });
  return readPages<Journal>((last) => {
    if (!last) {
      return [inOrder(range, {})];
    }
    const { accountId, walletId, walletSeq } = last;
    return [
      inOrder(accountId, {
        walletId: { $eq: walletId, $type: 'string' },
        walletSeq: { $gt: walletSeq },
      }),
      inOrder(accountId, { walletId: { $gt: walletId, $type: 'string' } }),
      inOrder({ ...range, $gt: accountId }, {}),
    ];
  });
}
