import { auditInsert, type ChangedBy, recordAudit } from '../../audit/record-audit.js';
import { findConfirmed } from '../../database/find-confirmed.js';
import { now } from '../../shared/clock.js';
import { ConflictError, NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { confirmDeposit, findMismatch, requireDeposit } from '../decide-deposit.js';
import { bankLines, type BankLine, BankLineModel } from './bank-line.model.js';
import { findPossibleDuplicates } from './bank-lines.js';
import { inTransaction } from '../../database/mongo.js';

interface LineUse {
  lineId: string;
  depositId: string;
  /** Also where another line, which was used or set aside, may be the same payment. */
  meant?: boolean | undefined;
}

/**
 * Credits a pending deposit with a line of a bank statement. Invariant: a line credits one deposit and a deposit is credited
 * once, whoever asks for what at the same moment: both stand or fall in one posting. Safe to run twice.
 * @returns whether this call did it.
 * @throws NotFoundError. ConflictError for another amount, a deposit that waits no more, a line that was used for another or
 *   set aside, and one that may be the same payment as a line that was, unless that is `meant`. ValidationError if the balance would be too large.
 */
export async function creditWithLine(
  { lineId, depositId, meant = false }: LineUse,
  by: ChangedBy,
): Promise<{ changed: boolean }> {
  const line = await requireLine(lineId);
  if (isUsedFor(line, depositId)) {
    return { changed: false };
  }
  requireOpen(line);
  const misfit = findMismatch(await requireDeposit(depositId), line.amount);
  if (misfit !== null) {
    return acceptIfJustUsed({ lineId, depositId }, misfit);
  }
  if (!meant) {
    await refusePossibleDuplicate(line);
  }
  const decided = { at: now(), actor: by.actor, reason: by.reason };
  const { changed, deposit } = await confirmDeposit(depositId, by, {
    changes: [
      {
        collection: bankLines.collectionName,
        id: lineId,
        expect: { status: 'open' },
        set: { status: 'used', depositId, decided },
      },
    ],
    inserts: [
      auditInsert({
        ...by,
        action: 'bank-line.use',
        subject: { kind: 'bank-line', id: lineId },
        before: { status: 'open' },
        after: { status: 'used', depositId, day: line.day, amount: line.amount },
      }),
    ],
  });
  return changed
    ? { changed }
    : acceptIfJustUsed(
        { lineId, depositId },
        findMismatch(deposit, line.amount) ?? 'it was changed meanwhile',
      );
}

/** @throws ConflictError where another line may be the same payment. */
async function refusePossibleDuplicate(line: BankLine): Promise<void> {
  const [one] = await findPossibleDuplicates(line);
  if (one) {
    const what = one.status === 'used' ? `used for deposit ${one.depositId}` : 'set aside';
    throw new ConflictError(
      asWritten(
        `A line of ${one.day} with the same amount was ${what}. It may be the same payment, which another export tells with another text: say so (meant) if it is not.`,
      ),
    );
  }
}

/** As a majority holds it: "used already" is an answer about money. @throws NotFoundError. */
export async function requireLine(lineId: string): Promise<BankLine> {
  const [line] = await findConfirmed(bankLines, { _id: lineId });
  if (!line) {
    throw new NotFoundError(asWritten(`There is no bank line ${lineId}.`), {
      atCommandLine: 'See them all: topup deposit lines',
    });
  }
  return line;
}

/** @throws ConflictError unless it is open. */
export function requireOpen({ _id, status, depositId }: BankLine): void {
  if (status !== 'open') {
    throw new ConflictError(
      asWritten(`Bank line ${_id} was ${status === 'used' ? `used for deposit ${depositId}` : 'set aside'}.`),
    );
  }
}

function isUsedFor({ status, depositId }: BankLine, wanted: string): boolean {
  return status === 'used' && depositId === wanted;
}

/** Somebody else may have done the very same. */
async function acceptIfJustUsed(
  { lineId, depositId }: { lineId: string; depositId: string },
  why: string,
): Promise<{ changed: false }> {
  const line = await requireLine(lineId);
  if (isUsedFor(line, depositId)) {
    return { changed: false };
  }
  requireOpen(line);
  throw new ConflictError(asWritten(`Bank line ${lineId} does not credit it: ${why}.`));
}

/**
 * Says that the money of a line is for no deposit, and why: paid back, interest, a deposit that was confirmed by hand. Twice changes nothing.
 * @throws NotFoundError. ConflictError for one that has credited a deposit.
 */
export async function setLineAside(lineId: string, by: ChangedBy): Promise<{ changed: boolean }> {
  const { day, amount } = await requireLine(lineId);
  const changed = await inTransaction(async (session) => {
    const { modifiedCount } = await BankLineModel.updateOne(
      { _id: lineId, status: 'open' },
      { $set: { status: 'set-aside', decided: { at: now(), actor: by.actor, reason: by.reason } } },
      { session },
    );
    if (modifiedCount === 1) {
      await recordAudit(session, {
        ...by,
        action: 'bank-line.set-aside',
        subject: { kind: 'bank-line', id: lineId },
        before: { status: 'open' },
        after: { status: 'set-aside', day, amount },
      });
    }
    return modifiedCount === 1;
  });
  if (!changed) {
    const line = await requireLine(lineId);
    if (line.status !== 'set-aside') {
      requireOpen(line);
    }
  }
  return { changed };
}

/**
 * Takes back that a line was set aside: its money is for somebody again. Twice changes nothing.
 * @throws NotFoundError. ConflictError for one that has credited a deposit.
 */
export async function reopenLine(lineId: string, by: ChangedBy): Promise<{ changed: boolean }> {
  const { day, amount } = await requireLine(lineId);
  const changed = await inTransaction(async (session) => {
    const before = await BankLineModel.findOneAndUpdate(
      { _id: lineId, status: 'set-aside' },
      { $set: { status: 'open', decided: null } },
      { session, returnDocument: 'before' },
    ).lean<BankLine>();
    if (before) {
      await recordAudit(session, {
        ...by,
        action: 'bank-line.reopen',
        subject: { kind: 'bank-line', id: lineId },
        before: { status: 'set-aside', reason: before.decided?.reason ?? null },
        after: { status: 'open', day, amount },
      });
    }
    return before !== null;
  });
  if (!changed) {
    requireOpen(await requireLine(lineId));
  }
  return { changed };
}
