import type { ChangedBy } from '../../audit/record-audit.js';
import { now } from '../../shared/clock.js';
import { ConflictError, ValidationError } from '../../shared/errors.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { newId } from '../../shared/ids.js';
import { asWritten } from '../../shared/say.js';
import type { BankLine } from './bank-line.model.js';
import { insertNewLines } from './insert-new-lines.js';
import {
  findStoredLines,
  planStatement,
  selectConfirmable,
  type PlannedLine,
  type TrustedMatches,
} from './plan-statement.js';
import { readBankStatement } from './read-bank-statement.js';
import { creditWithLine } from './decide-line.js';
import { storeCorrections } from './store-corrections.js';

export interface StatementRequest extends TrustedMatches {
  bytes: Uint8Array;
  /** Name of the file, stored with its lines. */
  file: string;
  /** Fingerprint of the plan that the operator reviewed. */
  fingerprint: string;
}

export interface ConfirmedStatement {
  /** Number of deposits that this call has credited. */
  confirmed: number;
  /**
   * Number of deposits that were already credited, either by another actor or by an earlier posting
   * of this call whose response was lost.
   */
  stood: number;
  /** Lines that were not used and stay open, each with the reason. */
  left: { line: number; why: string }[];
  /** Number of lines that no earlier statement contained. */
  kept: number;
  /** Number of corrections that are new, or have found their payment. */
  corrected: number;
}

/** Number of deposits to credit concurrently. Their postings are written as a group. */
const creditBatchSize = 25;

/**
 * Confirms the deposits of a reviewed bank statement. Stores all its incoming lines, so that no
 * line is used twice. After an interruption, credited deposits stay credited. Reviewing and
 * confirming the statement again completes the rest.
 *
 * @throws ValidationError if the file cannot be read.
 * @throws ConflictError if the plan has changed since the review, or there is nothing to confirm or
 *   to store.
 */
export async function confirmStatement(
  { bytes, file, fingerprint, ...trusted }: StatementRequest,
  by: ChangedBy,
): Promise<ConfirmedStatement> {
  const plan = await planStatement(await readBankStatement(bytes));
  if (plan.fingerprint !== fingerprint) {
    throw new ConflictError(
      asWritten('Deposits or lines have changed since the preview. Review the statement again.'),
    );
  }
  const newCount = await storeNewLines(plan.lines, file);
  // Corrections are stored before any line is used, so that an interruption cannot lose one.
  const corrected = await storeCorrections(plan, file, by);
  const wanted = selectConfirmable(plan.lines, trusted);
  if (wanted.length + newCount + corrected === 0) {
    throw new ConflictError(asWritten('The statement has no line that is new or confirms a deposit.'));
  }
  const stored = await findStoredLines(wanted);
  const done: ConfirmedStatement = { confirmed: 0, stood: 0, left: [], kept: newCount, corrected };
  for (const some of splitIntoChunks(wanted, creditBatchSize)) {
    // Wait for all postings even if one fails, so that none is still running after the response is
    // sent.
    const ends = await Promise.allSettled(
      some.map((each) => confirmLine(each, stored.get(each.key)?._id ?? '', by)),
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

/**
 * Stores the new lines before any line is used.
 * @returns The number of new lines.
 */
async function storeNewLines(lines: readonly PlannedLine[], file: string): Promise<number> {
  const known = await findStoredLines(lines);
  const fresh = lines.filter(({ key }) => !known.has(key));
  return insertNewLines(
    fresh.map(({ key, day, amount, description }): BankLine => ({
      _id: newId(),
      key,
      day,
      amount,
      description,
      status: 'open',
      depositId: null,
      counterpartId: null,
      file,
      createdAt: now(),
      decided: null,
    })),
  );
}

async function confirmLine(
  { line, deposits: [deposit] }: PlannedLine,
  lineId: string,
  by: ChangedBy,
): Promise<'confirmed' | 'stood' | { line: number; why: string }> {
  try {
    const { changed } = await creditWithLine(
      // `meant` skips the check for possible duplicates, which the plan has already made.
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
