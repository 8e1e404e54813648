import { buildAuditEntryInsert, type ChangedBy, recordAudit } from '../../audit/record-audit.js';
import { findConfirmed } from '../../database/find-confirmed.js';
import { now } from '../../shared/clock.js';
import { ConflictError, NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { confirmDeposit, findMismatch, requireDeposit } from '../decide-deposit.js';
import { bankLines, type BankLine, BankLineModel } from './bank-line.model.js';
import { findPossibleDuplicates } from './bank-lines.js';
import { runInTransaction } from '../../database/mongo.js';

interface LineUse {
  lineId: string;
  depositId: string;
  /** True to accept the line even if a decided line may be the same payment. */
  meant?: boolean | undefined;
}

/**
 * Credits a pending deposit with a bank line. Invariant: a line credits at most one deposit, and a
 * deposit is credited at most once, also under concurrent calls. One posting changes both. Safe to
 * run twice.
 *
 * @returns `changed` is true if this call credited the deposit.
 * @throws NotFoundError if the line or the deposit does not exist.
 * @throws ConflictError if the amounts differ, the deposit is not pending, the line is not open, or
 *   the line may be a duplicate and `meant` is not set.
 * @throws ValidationError if the balance would be too large.
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
      buildAuditEntryInsert({
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
        findMismatch(deposit, line.amount) ?? 'it was changed in the meantime',
      );
}

/** @throws ConflictError if another line may be the same payment. */
async function refusePossibleDuplicate(line: BankLine): Promise<void> {
  const [one] = await findPossibleDuplicates(line);
  if (one) {
    const what = describeDecision(one);
    throw new ConflictError(
      asWritten(
        `A line of ${one.day} with the same amount was ${what}. It may be the same payment from another export, with a different text. Confirm (meant) if it is a different payment.`,
      ),
    );
  }
}

/**
 * Finds a line and confirms it with a majority, because callers report "used already", which must
 * survive a failover.
 * @throws NotFoundError if there is no such line.
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

/** @throws ConflictError unless the line is open. */
export function requireOpen({ _id, status, depositId }: BankLine): void {
  if (status !== 'open') {
    throw new ConflictError(asWritten(`Bank line ${_id} was ${describeDecision({ status, depositId })}.`));
  }
}

function describeDecision({ status, depositId }: Pick<BankLine, 'status' | 'depositId'>): string {
  switch (status) {
    case 'used':
      return `used for deposit ${depositId}`;
    case 'taken-back':
      return 'taken back by the bank';
    case 'correction':
      return 'outgoing: it takes back another line';
    default:
      return 'set aside';
  }
}

function isUsedFor({ status, depositId }: BankLine, wanted: string): boolean {
  return status === 'used' && depositId === wanted;
}

/**
 * Succeeds without a change if a concurrent call has used the line for the same deposit.
 * @throws ConflictError with the given mismatch otherwise.
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
 * Sets a line aside because its money belongs to no deposit. Examples are a refund, interest, or a
 * deposit that was confirmed by hand. Setting a line aside twice changes nothing.
 * @throws NotFoundError if there is no such line.
 * @throws ConflictError if the line has credited a deposit.
 */
export async function setLineAside(lineId: string, by: ChangedBy): Promise<{ changed: boolean }> {
  const { day, amount } = await requireLine(lineId);
  const changed = await runInTransaction(async (session) => {
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
 * Reopens a line that was set aside or taken back, if that was wrong. Its correction is not paired
 * again. Reopening twice changes nothing.
 * @throws NotFoundError if there is no such line.
 * @throws ConflictError if the line has credited a deposit.
 */
export async function reopenLine(lineId: string, by: ChangedBy): Promise<{ changed: boolean }> {
  const { day, amount } = await requireLine(lineId);
  const changed = await runInTransaction(async (session) => {
    const before = await BankLineModel.findOneAndUpdate(
      { _id: lineId, status: { $in: ['set-aside', 'taken-back'] } },
      { $set: { status: 'open', decided: null } },
      { session, returnDocument: 'before' },
    ).lean<BankLine>();
    if (before) {
      await recordAudit(session, {
        ...by,
        action: 'bank-line.reopen',
        subject: { kind: 'bank-line', id: lineId },
        before: { status: before.status, reason: before.decided?.reason ?? null },
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
