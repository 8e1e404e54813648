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
  /** Accept the line even if a used or set-aside line may be the same payment. */
  meant?: boolean | undefined;
}

/**
 * Credits a pending deposit with a bank line. Invariant: a line credits one deposit and a deposit
 * is credited once, also under concurrent calls, because one posting changes both. Safe to run
 * twice.
 * @returns whether this call credited it.
 * @throws NotFoundError. ConflictError for another amount, a deposit that is not pending, a decided
 * line, or a possible duplicate unless `meant`. ValidationError if the balance would be too large.
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
  const mismatch = findMismatch(await requireDeposit(depositId), line.amount);
  if (mismatch !== null) {
    return acceptIfJustUsed({ lineId, depositId }, mismatch);
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

/** @throws ConflictError if another line may be the same payment. */
async function refusePossibleDuplicate(line: BankLine): Promise<void> {
  const [one] = await findPossibleDuplicates(line);
  if (one) {
    const what = one.status === 'used' ? `used for deposit ${one.depositId}` : 'set aside';
    throw new ConflictError(
      asWritten(
        `A line of ${one.day} with the same amount was ${what}. It may be the same payment from another export, with a different text. Confirm (meant) if it is a different payment.`,
      ),
    );
  }
}

/**
 * Finds a line with majority confirmation: "used already" is an answer about money.
 * @throws NotFoundError.
 */
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

/**
 * Accepts the line if a concurrent call has used it for the same deposit.
 * @throws ConflictError otherwise.
 */
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
 * Sets a line aside: its money is for no deposit, for example a refund, interest, or a deposit that
 * was confirmed by hand. Setting it aside twice changes nothing.
 * @throws NotFoundError. ConflictError if it has credited a deposit.
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
 * Reopens a line that was set aside. Reopening twice changes nothing.
 * @throws NotFoundError. ConflictError if it has credited a deposit.
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
