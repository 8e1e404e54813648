import { computeRoot, hashRow, createWalletsDigest } from '../../money/closes/close-hash.js';
import { isSignatureValid, findLastClosedDay, type ClosedDay } from '../../money/closes/day-closes.js';
import { dayCloses, type DayAudit, type DayClose } from '../../money/closes/day-close.model.js';
import type { WalletClose } from '../../money/closes/wallet-close.model.js';
import { findRows } from '../closes/close-ledger.js';
import { readDayAudit } from '../closes/close-audit.js';
import { checkAudit } from './check-audit.js';
import { checkClosedWallets } from './check-closed-wallets.js';
import { checkOpenStates, createOpenCheck, type OpenCheck } from './check-open-part.js';
import { readPages } from './read-pages.js';
import type { ClosesRead, FindingLog, LedgerFinding, OnPart, Progress } from './ledger-report.js';

export interface VerifyOptions {
  /** Checks closed days by every rule, in addition to verifying their hashes. */
  full?: boolean | undefined;
  /** A root that `topup ledger close` printed, kept outside the database. */
  root?: string | undefined;
  /** The public key that must have signed every root. */
  publicKey?: string | undefined;
  onPart?: OnPart | undefined;
}

interface ClosesResult {
  closes: ClosesRead;
  /** Document counts of the uncovered data. Null if every rule must be checked over all history. */
  open: Pick<OpenCheck, 'examined'> | null;
}

/**
 * Verifies the closes: nothing in the journals and subjects of closed days was changed, removed or
 * added. It compares roots with rows, rows with each other, and rows with journals.
 *
 * It then checks every rule over the data that no close covers. With `full`, or if no day is
 * closed, the caller must check all history instead.
 */
export async function checkCloses(
  log: FindingLog,
  progress: Progress,
  { full = false, root, publicKey, onPart = () => undefined }: VerifyOptions,
): Promise<ClosesResult> {
  const last = await findLastClosedDay();
  await checkGivenRoot(log, root);
  if (!last) {
    return {
      closes: { days: 0, journals: 0, audit: { entries: 0, late: 0, lateIds: [] }, last },
      open: null,
    };
  }
  const days = await checkRoots(log, last._id, { publicKey, onPart });
  const audit = await checkAudit(log, last, onPart);
  const open = full ? null : createOpenCheck(log);
  if (open) {
    await checkOpenStates(log, open, onPart);
  }
  const journals = await checkClosedWallets(log, last._id, { progress, onPart, open });
  const shown = { day: last._id, root: last.root, publicKey: last.signature?.publicKey ?? null };
  return { closes: { days, journals, audit, last: shown }, open };
}

/**
 * Checks every root against its rows and the previous root.
 * @returns The number of roots.
 */
async function checkRoots(
  log: FindingLog,
  lastDay: string,
  { publicKey, onPart }: { publicKey: string | undefined; onPart: OnPart },
): Promise<number> {
  let days = 0;
  let previous: ClosedDay | null = null;
  const closed = readPages<ClosedDay>((day) => [
    dayCloses.find<ClosedDay>({ _id: { $gt: day?._id ?? '', $lte: lastDay } }).sort({ _id: 1 }),
  ]);
  for await (const day of closed) {
    const digest = createWalletsDigest();
    for await (const row of readPages<WalletClose>((last) => [findRows(day._id, last?._id)])) {
      digest.add(hashRow(row));
    }
    const expected = { previous, walletsHash: digest.hash(), audit: await readDayAudit(day._id), publicKey };
    findProblems(day, expected).forEach((message) => log.add(buildFinding(day._id, message)));
    previous = day;
    days += 1;
    onPart();
  }
  return days;
}

function findProblems(
  day: ClosedDay,
  expected: {
    previous: ClosedDay | null;
    walletsHash: string;
    audit: DayAudit;
    publicKey: string | undefined;
  },
): string[] {
  const { previous, walletsHash, audit, publicKey } = expected;
  const { _id, content, root, signature } = day;
  const problems: string[] = [];
  if ((day as DayClose).state !== 'closed') {
    return ['it is not closed, but later days are'];
  }
  if (content.walletsHash !== walletsHash) {
    problems.push('its wallet rows do not match its root');
  }
  const covered = content.audit ?? (previous?.content.audit ? null : { ...audit, entries: 0 });
  if (covered?.entries !== audit.entries || (content.audit && content.audit.hash !== audit.hash)) {
    problems.push('its audit rows do not match its root');
  }
  if (computeRoot(_id, content) !== root) {
    problems.push('its root does not match its content');
  }
  if (content.previous !== (previous?.root ?? null)) {
    problems.push(
      `its root does not follow that of ${previous?._id ?? 'nothing'}: an earlier day is missing or was closed again`,
    );
  }
  if (signature ? !isSignatureValid(_id, root, signature) : Boolean(previous?.signature)) {
    problems.push(
      signature ? 'its signature does not match its root' : 'it is not signed, but the previous day is',
    );
  }
  if (publicKey !== undefined && signature?.publicKey !== publicKey) {
    problems.push('it is not signed with the given key');
  }
  return problems;
}

async function checkGivenRoot(log: FindingLog, root: string | undefined): Promise<void> {
  // Without `$type`, MongoDB cannot use the partial index.
  if (root !== undefined && !(await dayCloses.findOne({ root: { $eq: root, $type: 'string' } }))) {
    log.add({ check: 'closed-days', subject: `root ${root}`, message: 'no closed day has this root' });
  }
}

function buildFinding(day: string, message: string): LedgerFinding {
  return { check: 'closed-days', subject: `day ${day}`, message };
}
