import { accounts, type Account } from '../../accounts/account.model.js';
import { journals, type Journal } from '../../money/journals/journal.model.js';
import { wallets, type Wallet } from '../../money/wallets/wallet.model.js';
import { netOf } from './check-journal.js';
import { keyedStream, smallestKey, type KeyedStream } from './keyed-stream.js';
import type { FindingLog, LedgerFinding, Progress } from './ledger-report.js';
import { moneyReader, rawRead } from './read-money.js';
import { decodeJournal } from './subject.js';

interface DecodedWallet {
  seq: number;
  balance: number;
  held: number;
  notInt64: string[];
}

/** One broken journal makes all later ones look wrong; the first few tell where to look. */
const findingsPerWallet = 3;

export interface WalletTotals {
  wallets: number;
  /** Rupiah, balances and held amounts of all. */
  sum: number;
}

/**
 * docs/money.md#rules, 2: each wallet against all of its journals, in the order of `walletSeq`. A journal and the
 * wallet's change are one database transaction, so a wallet read at `seq` s has exactly the journals 1 to s; a wallet
 * that changed between two reads is read again by itself before it counts as wrong.
 */
export async function checkWallets(log: FindingLog, progress: Progress): Promise<WalletTotals> {
  const streams = {
    accounts: keyedStream(
      accounts.find<Account>({}, { ...rawRead, projection: { _id: 1 } }).sort({ _id: 1 }),
      (each) => each._id,
    ),
    wallets: keyedStream(wallets.find<Wallet>({}, rawRead).sort({ _id: 1 }), (each) => each._id),
    journals: keyedStream(
      journals.find<Journal>({ walletId: { $type: 'string' } }, rawRead).sort({ walletId: 1, walletSeq: 1 }),
      (each) => each.walletId ?? '',
    ),
  };
  const all = Object.values(streams) as unknown as KeyedStream<never>[];
  const total = await wallets.estimatedDocumentCount();
  const totals = { wallets: 0, sum: 0 };
  for (let id = await smallestKey(all); id !== null; id = await smallestKey(all)) {
    const [account] = await streams.accounts.take(id);
    const [wallet] = await streams.wallets.take(id);
    const decoded = wallet ? decodeWallet(wallet) : null;
    const { findings, lastSeq } = await compareWithJournals(id, decoded, streams.journals.each(id));
    // An account is made with its wallet: one that is seen without the other is looked at again as well.
    if (findings.length > 0 || !account || !decoded || lastSeq > decoded.seq) {
      (await recheck(id)).forEach((finding) => log.add(finding));
    }
    totals.wallets += decoded ? 1 : 0;
    totals.sum += decoded ? decoded.balance + decoded.held : 0;
    progress({ what: 'wallets', done: totals.wallets, total });
  }
  return totals;
}

/** One wallet by itself: first the wallet, then its journals, so that none of those can be missing. */
async function recheck(id: string): Promise<LedgerFinding[]> {
  const account = await accounts.findOne({ _id: id }, { projection: { _id: 1 } });
  const wallet = await readWallet(id);
  const own = journals.find<Journal>({ walletId: id }, rawRead).sort({ walletId: 1, walletSeq: 1 });
  const { findings, lastSeq } = await compareWithJournals(id, wallet, own);
  const seqNow = wallet && lastSeq > wallet.seq ? ((await readWallet(id))?.seq ?? 0) : lastSeq;
  if (seqNow < lastSeq) {
    findings.push(
      finding('wallet-sequence', id, `its journals go on to ${lastSeq}, beyond its seq ${seqNow}`),
    );
  }
  if (!account || !wallet) {
    const message = account ? 'the account has no wallet' : 'the wallet has no account';
    findings.push(finding('wallet-account', id, message));
  }
  return findings;
}

async function readWallet(id: string): Promise<DecodedWallet | null> {
  const wallet = await wallets.findOne({ _id: id }, rawRead);
  return wallet && decodeWallet(wallet);
}

function decodeWallet(wallet: Wallet): DecodedWallet {
  const money = moneyReader();
  return {
    seq: money.rupiah(wallet.seq, 'wallet seq'),
    balance: money.rupiah(wallet.balance, 'wallet balance'),
    held: money.rupiah(wallet.held, 'wallet held'),
    notInt64: money.notInt64,
  };
}

async function compareWithJournals(
  id: string,
  wallet: DecodedWallet | null,
  source: AsyncIterable<Journal>,
): Promise<{ findings: LedgerFinding[]; lastSeq: number }> {
  const findings: LedgerFinding[] = [];
  let at = { seq: 0, balance: 0, held: 0 };
  let atWallet = wallet?.seq === 0 ? at : null;
  for await (const raw of source) {
    const journal = decodeJournal(raw, moneyReader());
    findings.push(...checkStep(id, journal, at));
    at = after(id, journal, at);
    atWallet = at.seq === wallet?.seq ? at : atWallet;
  }
  if (!wallet) {
    return {
      findings: at.seq > 0 ? [finding('wallet-sequence', id, 'it does not exist, its journals do')] : [],
      lastSeq: at.seq,
    };
  }
  findings.push(...compare(id, wallet, { atWallet, last: at.seq }));
  const notInt64 = wallet.notInt64.map((where) =>
    finding('stored-as-int64', id, `${where} is not stored as a safe int64`),
  );
  return { findings: [...notInt64, ...findings.slice(0, findingsPerWallet)], lastSeq: at.seq };
}

interface Standing {
  seq: number;
  balance: number;
  held: number;
}

/** One journal against the wallet as the journals before it left it. */
function checkStep(id: string, journal: Journal, before: Standing): LedgerFinding[] {
  const findings: LedgerFinding[] = [];
  const what = `${journal.kind} of ${journal.subjectId}`;
  if (journal.walletSeq !== before.seq + 1) {
    findings.push(
      finding(
        'wallet-sequence',
        id,
        `after journal ${before.seq} comes ${journal.walletSeq ?? 'none'} (${what})`,
      ),
    );
  }
  const { balance } = after(id, journal, before);
  if (journal.balanceAfter !== balance) {
    const says = `journal ${journal.walletSeq ?? 0} (${what}) says balance ${journal.balanceAfter ?? 'none'}`;
    findings.push(finding('wallet-balance', id, `${says}, its lines make ${balance}`));
  }
  return findings;
}

function after(id: string, journal: Journal, before: Standing): Standing {
  const net = netOf(journal.lines);
  return {
    seq: journal.walletSeq ?? before.seq + 1,
    balance: before.balance + (net.get(`wallet:${id}`) ?? 0),
    held: before.held + (net.get(`held:${id}`) ?? 0),
  };
}

function compare(
  id: string,
  wallet: DecodedWallet,
  journal: { atWallet: Standing | null; last: number },
): LedgerFinding[] {
  if (!journal.atWallet) {
    return [finding('wallet-sequence', id, `its seq is ${wallet.seq}, its journals end at ${journal.last}`)];
  }
  const { balance, held } = journal.atWallet;
  return [
    ...(balance === wallet.balance
      ? []
      : [finding('wallet-balance', id, `its balance is ${wallet.balance}, its journals make ${balance}`)]),
    ...(held === wallet.held
      ? []
      : [finding('wallet-balance', id, `it holds ${wallet.held}, its journals make ${held}`)]),
  ];
}

function finding(check: LedgerFinding['check'], walletId: string, message: string): LedgerFinding {
  return { check, subject: `wallet ${walletId}`, message };
}
