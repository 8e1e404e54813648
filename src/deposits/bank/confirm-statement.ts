import type { ChangedBy } from '../../audit/record-audit.js';
import { isDuplicateKey } from '../../database/mongo.js';
import { now } from '../../shared/clock.js';
import { ConflictError, ValidationError } from '../../shared/errors.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { newId } from '../../shared/ids.js';
import { asWritten } from '../../shared/say.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';
import {
  findStoredLines,
  planStatement,
  selectConfirmable,
  type PlannedLine,
  type TrustedMatches,
} from './plan-statement.js';
import { readBankStatement } from './read-bank-statement.js';
import { creditWithLine } from './decide-line.js';

export interface StatementRequest extends TrustedMatches {
  bytes: Uint8Array;
  /** Name of the file, kept with its lines. */
  file: string;
  /** Of the plan that was looked at. */
  fingerprint: string;
}

export interface ConfirmedStatement {
  /** Deposits that this call has credited. */
  confirmed: number;
  /** Deposits of its lines that were found credited: by somebody else meanwhile, or by a posting of this call whose answer was lost. */
  stood: number;
  /** Lines whose deposit somebody else has decided meanwhile, and why they were left; they stay open. */
  left: { line: number; why: string }[];
  /** Lines that no earlier statement had. */
  kept: number;
}

/** Deposits that are credited at a time: postings of that moment are written together. */
const atOnce = 25;
const keptAtOnce = 500;

/**
 * Confirms the deposits that the lines of a bank statement name, as they were looked at, and keeps all incoming lines, so
 * that none is ever used again. Broken off, what was credited stands: looked at again, it does the rest.
 * @throws ValidationError for a file that cannot be read. ConflictError where the plan is not any more what was looked at, and where
 *   there is nothing in it to confirm or to keep.
 */
export async function confirmStatement(
  { bytes, file, fingerprint, ...trusted }: StatementRequest,
  by: ChangedBy,
): Promise<ConfirmedStatement> {
  const plan = await planStatement(await readBankStatement(bytes));
  if (plan.fingerprint !== fingerprint) {
    throw new ConflictError(
      asWritten('Deposits or lines have changed since the preview: look at the statement again.'),
    );
  }
  const kept = await storeNewLines(plan.lines, file);
  const wanted = selectConfirmable(plan.lines, trusted);
  if (wanted.length + kept === 0) {
    throw new ConflictError(asWritten('The statement has no line that is new or confirms a deposit.'));
  }
  const stored = await findStoredLines(wanted);
  const done: ConfirmedStatement = { confirmed: 0, stood: 0, left: [], kept };
  for (const some of splitIntoChunks(wanted, atOnce)) {
    // All of them end before one that failed is heard of: nothing goes on behind the answer.
    const ends = await Promise.allSettled(
      some.map((each) => confirmOne(each, stored.get(each.key)?._id ?? '', by)),
    );
    for (const end of ends) {
      if (end.status === 'rejected') {
        throw end.reason;
      }
      if (typeof end.value === 'object') {
        done.left.push(end.value);
      } else {
        done[end.value] += 1;
      }
    }
  }
  return done;
}

/** Before any of them is used: a line that is not kept cannot be. @returns how many are new. */
async function storeNewLines(lines: readonly PlannedLine[], file: string): Promise<number> {
  const known = await findStoredLines(lines);
  const fresh = lines.filter(({ key }) => !known.has(key));
  let kept = 0;
  for (const some of splitIntoChunks(fresh, keptAtOnce)) {
    const rows = some.map((each): BankLine => {
      const { key, day, amount, description } = each;
      return {
        _id: newId(),
        key,
        day,
        amount,
        description,
        status: 'open',
        depositId: null,
        file,
        createdAt: now(),
        decided: null,
      };
    });
    kept += await insertNew(rows);
  }
  return kept;
}

async function insertNew(rows: BankLine[]): Promise<number> {
  try {
    await BankLineModel.insertMany(rows, { ordered: false });
    return rows.length;
  } catch (error) {
    // Somebody keeps the same lines at this moment.
    if (isDuplicateKey(error)) {
      const ids = rows.map(({ _id }) => _id);
      return BankLineModel.countDocuments({ _id: { $in: ids } });
    }
    throw error;
  }
}

async function confirmOne(
  { line, deposits: [deposit] }: PlannedLine,
  lineId: string,
  by: ChangedBy,
): Promise<'confirmed' | 'stood' | { line: number; why: string }> {
  try {
    const { changed } = await creditWithLine(
      // Its plan has seen what was used before.
      { lineId, depositId: deposit?._id ?? '', meant: true },
      by,
    );
    return changed ? 'confirmed' : 'stood';
  } catch (error) {
    if (error instanceof ConflictError || error instanceof ValidationError) {
      return { line, why: error.message };
    }
    throw error;
  }
}
