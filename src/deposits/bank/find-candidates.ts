import { limits } from '../../../config/limits.js';
import { getBusinessDayByName, getBusinessDay, addDays } from '../../shared/business-time.js';
import { toInt64 } from '../../database/typed-collection.js';
import { splitIntoChunks, iterateInSlices } from '../../shared/collections.js';
import { deposits, type Deposit } from '../deposit.model.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';
import { getDayRange, type IncomingLine } from './read-bank-statement.js';
import { buildUnreadableError } from './statement-line.js';

/** A deposit with its business day, for matching with bank lines. */
export interface DatedDeposit extends Pick<
  Deposit,
  '_id' | 'accountId' | 'refId' | 'amount' | 'status' | 'createdAt'
> {
  /** The business day on which the deposit was requested. */
  day: string;
}

export type UndatedDeposit = Omit<DatedDeposit, 'day'>;
export const undatedFields = { accountId: 1, refId: 1, amount: 1, status: 1, createdAt: 1 } as const;

export function withDay(deposit: UndatedDeposit): DatedDeposit {
  // Adding the day to the document itself saves a copy of each of up to 100,000 deposits.
  return Object.assign(deposit, { day: getBusinessDay(deposit.createdAt).day });
}

/** A deposit whose amount equals the amount of a line. */
export interface Candidate extends DatedDeposit {
  /**
   * True if another line has credited the deposit. It then matches only by its name, not by its
   * amount.
   */
  hasLine: boolean;
}

/**
 * Number of days that a payment may precede its deposit request. Some clients pay first and request
 * the deposit the next day.
 */
const paidBeforeDays = 1;
export const candidatesMax = 50_000;
const chunkSize = 1_000;

/**
 * Finds the deposits that the lines may pay, by amount.
 * @throws ValidationError if more than `candidatesMax` deposits match.
 */
export async function findCandidates(lines: readonly IncomingLine[]): Promise<Map<number, Candidate[]>> {
  if (lines.length === 0) {
    return new Map();
  }
  const found: DatedDeposit[] = [];
  const createdAt = getRequestPeriod(lines);
  const amounts = [...new Set(lines.map(({ amount }) => amount))];
  for (const some of splitIntoChunks(amounts, chunkSize)) {
    // The amount and the creation time of a deposit never change, so the cursor returns each
    // deposit once.
    const source = deposits
      .find({
        amount: { $in: some.map(toInt64) },
        createdAt,
      })
      .project<UndatedDeposit>(undatedFields)
      .limit(candidatesMax + 1 - found.length)
      // The driver parses each batch without yielding to the event loop, so batches are small.
      .batchSize(chunkSize);
    for await (const each of source) {
      found.push(withDay(each));
    }
    if (found.length > candidatesMax) {
      throw buildUnreadableError(
        `more than ${candidatesMax} deposits have its amounts. Upload fewer days at a time`,
      );
    }
  }
  const paid = await findPaidDepositIds(found);
  const byAmount = new Map<number, Candidate[]>();
  for await (const each of iterateInSlices(found)) {
    const others = byAmount.get(each.amount) ?? [];
    others.push(Object.assign(each, { hasLine: paid.has(each._id) }));
    byAmount.set(each.amount, others);
  }
  return byAmount;
}

/** Returns the range of creation times of the deposits that these lines may pay. */
export function getRequestPeriod(lines: readonly IncomingLine[]): { $gte: Date; $lte: Date } {
  const { first, last } = getDayRange(lines) ?? { first: '', last: '' };
  return {
    $gte: new Date(getBusinessDayByName(addDays(first, -limits.depositPaidWithinDays)).startMs),
    $lte: new Date(getBusinessDayByName(addDays(last, paidBeforeDays)).endMs),
  };
}

/** Returns the deposits that a line of this day may pay, judged by their request days. */
export function filterInTime<T extends { day: string }>(day: string, candidates: readonly T[]): T[] {
  const [first, last] = [addDays(day, -limits.depositPaidWithinDays), addDays(day, paidBeforeDays)];
  return candidates.filter((each) => each.day >= first && each.day <= last);
}

async function findPaidDepositIds(
  candidates: readonly Pick<Candidate, '_id' | 'status'>[],
): Promise<Set<string>> {
  const ids = candidates.filter(({ status }) => status === 'completed').map(({ _id }) => _id);
  const paid = new Set<string>();
  for (const some of splitIntoChunks(ids, chunkSize)) {
    const found = await BankLineModel.find(
      // Without `$type`, MongoDB cannot use the partial index on `depositId`.
      { depositId: { $in: some, $type: 'string' } },
      { depositId: 1 },
    ).lean<Pick<BankLine, 'depositId'>[]>();
    found.forEach(({ depositId }) => paid.add(depositId ?? ''));
  }
  return paid;
}
