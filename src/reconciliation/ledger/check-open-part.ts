import { accounts } from '../../accounts/account.model.js';
import { deposits } from '../../deposits/deposit.model.js';
import { withSnapshot, runInTransaction } from '../../database/mongo.js';
import { toPlainNumber } from '../../money/closes/close-hash.js';
import { exactReadOptions } from '../../money/closes/canonical-text.js';
import { findWalletJournals } from '../../money/closes/wallet-journals.js';
import { sellerCredits } from '../../money/credits/seller-credit.model.js';
import type { Journal } from '../../money/journals/journal.model.js';
import { wallets, type Wallet } from '../../money/wallets/wallet.model.js';
import { purchases } from '../../purchases/purchase.model.js';
import { settlements } from '../../settlements/settlement.model.js';
import { formatBusinessDay } from '../../shared/business-time.js';
import { collectChunks } from '../../shared/collections.js';
import type { OpenPart } from './check-closed-wallets.js';
import { checkSubject } from './check-subject.js';
import { applyJournal, type WalletState } from './closed-wallet.js';
import { readPages, readWithRetries } from './read-pages.js';
import type { FindingLog, LedgerReport, OnPart } from './ledger-report.js';
import { readSubjects } from './stream-subjects.js';

/** Number of subjects per database transaction. */
const subjectsPerTransaction = 25;
/** Number of concurrent transactions. */
const concurrency = 8;

/** Checks every rule of uncovered subjects, and each wallet against its journals. */
export interface OpenCheck extends OpenPart {
  examined: LedgerReport['examined'];
}

export function createOpenCheck(log: FindingLog): OpenCheck {
  const examined = { wallets: 0, journals: 0, transactions: 0, deposits: 0, settlements: 0, quotes: 0 };
  return {
    examined,
    async range(ids, found) {
      const having = new Set(found.map(({ _id }) => _id));
      const known = await accounts.find({ _id: ids }, { projection: { _id: 1 } }).toArray();
      const isKnown = new Set(known.map(({ _id }) => _id));
      const alone = [...having].filter((id) => !isKnown.has(id));
      await recheckAccounts(log, [...alone, ...[...isKnown].filter((id) => !having.has(id))]);
    },
    async journals(of) {
      examined.journals += of.length;
      await checkSubjects(log, await findSubjectIds(of), examined);
    },
    async wallet(wallet, { id, closed, standing, isGapless }) {
      examined.wallets += wallet ? 1 : 0;
      // The wallet may have changed between the reads of its journals and of the wallet.
      if (!isGapless || !wallet || !matchesState(wallet, standing)) {
        await recheckWallet(log, id, closed);
      }
    },
  };
}

/**
 * Checks subjects in an open state. Call it before the journals are read, so that a subject that
 * ends in between already has a journal.
 */
export async function checkOpenStates(
  log: FindingLog,
  { examined }: OpenCheck,
  onPart: OnPart,
): Promise<void> {
  for await (const ids of collectChunks(readOpenIds(), subjectsPerTransaction * concurrency)) {
    await checkSubjects(log, [...new Set(ids)], examined);
    onPart();
  }
}

/** Reads all open ids of a kind at once, so that no cursor stays open during the checks. */
async function* readOpenIds(): AsyncGenerator<string> {
  const id = { projection: { _id: 1 } };
  const open = { status: { $in: ['PENDING' as const, 'PROCESSING' as const] } };
  const under = { status: { $in: ['pending' as const, 'processing' as const] } };
  yield* (await readWithRetries(() => purchases.find(open, id).toArray())).map(({ _id }) => _id);
  const credits = sellerCredits.find({ status: 'new' }, { projection: { transactionId: 1 } });
  yield* (await readWithRetries(() => credits.clone().toArray())).map(({ transactionId }) => transactionId);
  yield* (await readWithRetries(() => deposits.find({ status: 'pending' }, id).toArray())).map(
    ({ _id }) => _id,
  );
  yield* (await readWithRetries(() => settlements.find(under, id).toArray())).map(({ _id }) => _id);
}

/** Returns the subjects of journals. A posting is checked together with the sales that it posts. */
async function findSubjectIds(of: readonly Journal[]): Promise<string[]> {
  const postings = of.filter(({ kind }) => kind === 'seller-posting').map(({ subjectId }) => subjectId);
  const credits = await sellerCredits
    .find({ postingId: { $in: postings, $type: 'string' } }, { projection: { transactionId: 1 } })
    .toArray();
  return [
    ...new Set([
      ...of.map(({ subjectId }) => subjectId),
      ...credits.map(({ transactionId }) => transactionId),
    ]),
  ];
}

async function checkSubjects(log: FindingLog, ids: string[], examined: OpenCheck['examined']): Promise<void> {
  const groups = Array.from({ length: Math.ceil(ids.length / subjectsPerTransaction) }, (_, index) =>
    ids.slice(index * subjectsPerTransaction, (index + 1) * subjectsPerTransaction),
  );
  for (let start = 0; start < groups.length; start += concurrency) {
    const read = await Promise.all(groups.slice(start, start + concurrency).map(readAtSnapshot));
    for (const subject of read.flat()) {
      examined.transactions += subject.purchase ? 1 : 0;
      examined.deposits += subject.deposit ? 1 : 0;
      examined.settlements += subject.settlement ? 1 : 0;
      checkSubject(subject).forEach((finding) => log.add(finding));
    }
  }
}

function readAtSnapshot(ids: string[]) {
  return runInTransaction((session) => readSubjects(session, ids));
}

function matchesState(wallet: Wallet, standing: WalletState): boolean {
  return (
    toPlainNumber(wallet.seq) === standing.seq &&
    toPlainNumber(wallet.balance) === standing.balance &&
    toPlainNumber(wallet.held) === standing.held
  );
}

/**
 * Reports accounts without a wallet, and wallets without an account. One transaction creates the
 * two, so they are read again at one snapshot.
 */
async function recheckAccounts(log: FindingLog, ids: string[]): Promise<void> {
  if (ids.length === 0) {
    return;
  }
  const [account, wallet] = await withSnapshot(async (snapshot) => {
    const options = { ...snapshot, projection: { _id: 1 } };
    return [
      await accounts.find({ _id: { $in: ids } }, options).toArray(),
      await wallets.find({ _id: { $in: ids } }, options).toArray(),
    ];
  });
  for (const id of ids) {
    const hasAccount = account.some(({ _id }) => _id === id);
    const hasWallet = wallet.some(({ _id }) => _id === id);
    if (hasAccount !== hasWallet) {
      const message = hasAccount ? 'the account has no wallet' : 'the wallet has no account';
      log.add({ check: 'wallet-account', subject: `wallet ${id}`, message });
    }
  }
}

/**
 * Checks one wallet again. The wallet is read before its journals, so that no journal is missing.
 */
async function recheckWallet(log: FindingLog, id: string, closed: WalletState): Promise<void> {
  const add = (check: 'wallet-sequence' | 'wallet-balance', message: string) => {
    log.add({ check, subject: `wallet ${id}`, message });
  };
  const wallet = await wallets.findOne({ _id: id }, exactReadOptions);
  const seq = toPlainNumber(wallet?.seq ?? 0);
  const standing = { ...closed };
  let atWallet = seq === closed.seq ? closed : null;
  let last = `journal ${closed.seq}`;
  const journals = readPages<Journal>((before) => [
    findWalletJournals(
      id,
      { after: before ? toPlainNumber(before.walletSeq ?? 0) : closed.seq },
      exactReadOptions,
    ),
  ]);
  for await (const journal of journals) {
    const before = standing.seq;
    applyJournal(standing, id, journal);
    const day = formatBusinessDay(journal.createdAt);
    const what = `journal ${standing.seq} (${journal.kind} of ${journal.subjectId}, ${day})`;
    last = what;
    if (standing.seq !== before + 1) {
      // After a gap, all later journals would look wrong too.
      add('wallet-sequence', `after journal ${before} comes ${what}`);
      return;
    }
    if (standing.balance !== toPlainNumber(journal.balanceAfter)) {
      add('wallet-balance', `${what} does not have the balance that its lines make, ${standing.balance}`);
      return;
    }
    atWallet = standing.seq === seq ? { ...standing } : atWallet;
  }
  if (!wallet || !atWallet) {
    add(
      'wallet-sequence',
      `${wallet ? `its seq is ${seq}` : 'it does not exist'}, its journals end with ${last}`,
    );
  } else if (!matchesState(wallet, atWallet)) {
    const { balance, held } = atWallet;
    add(
      'wallet-balance',
      `it has ${toPlainNumber(wallet.balance)} and holds ${toPlainNumber(wallet.held)}, its journals make ${balance} and ${held}`,
    );
  } else if (standing.seq > seq && standing.seq > ((await wallets.findOne({ _id: id }))?.seq ?? 0)) {
    add('wallet-sequence', `its journals run to ${last}, beyond its seq ${seq}`);
  }
}
