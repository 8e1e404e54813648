import { limits } from '../../../config/limits.js';
import { getBusinessDayByName, getBusinessDay, daysAfter } from '../../shared/business-time.js';
import { int64 } from '../../database/typed-collection.js';
import { splitIntoChunks, iterateInSlices } from '../../shared/collections.js';
import { deposits, type Deposit } from '../deposit.model.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';
import { getDayRange, buildUnreadableError, type IncomingLine } from './read-bank-statement.js';

/** What a line of a statement is held against. */
export interface DatedDeposit extends Pick<
  Deposit,
  '_id' | 'accountId' | 'refId' | 'amount' | 'status' | 'createdAt'
> {
  /** The business day on which it was asked for. */
  day: string;
}

export type UndatedDeposit = Omit<DatedDeposit, 'day'>;
export const undatedFields = { accountId: 1, refId: 1, amount: 1, status: 1, createdAt: 1 } as const;

export function withDay(deposit: UndatedDeposit): DatedDeposit {
  return { ...deposit, day: getBusinessDay(deposit.createdAt).day };
}

/** A deposit that the amount of a line fits to. */
export interface Candidate extends DatedDeposit {
  /** Another line has credited it: it may be named by this one, but does not wait for its amount. */
  hasLine: boolean;
}

/** Some pay first, and ask for the deposit on the day after. */
const paidBeforeDays = 1;
export const candidatesMax = 50_000;
const atOnce = 1_000;

/**
 * The deposits that lines can be the payments of, by amount.
 * @throws ValidationError for a statement that fits to too many.
 */
export async function findCandidates(lines: readonly IncomingLine[]): Promise<Map<number, Candidate[]>> {
  if (lines.length === 0) {
    return new Map();
  }
  const found: DatedDeposit[] = [];
  const createdAt = getRequestPeriod(lines);
  const amounts = [...new Set(lines.map(({ amount }) => amount))];
  for (const some of splitIntoChunks(amounts, atOnce)) {
    // Neither amount nor creation of a deposit changes, so each is seen once.
    const source = deposits
      .find({
        amount: { $in: some.map(int64) },
        createdAt,
      })
      .project<UndatedDeposit>(undatedFields)
      .limit(candidatesMax + 1 - found.length)
      // A batch is read without a pause.
      .batchSize(atOnce);
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
    others.push({ ...each, hasLine: paid.has(each._id) });
    byAmount.set(each.amount, others);
  }
  return byAmount;
}

/** When deposits were asked for that lines of these days can be the payments of. */
export function getRequestPeriod(lines: readonly IncomingLine[]): { $gte: Date; $lte: Date } {
  const { first, last } = getDayRange(lines) ?? { first: '', last: '' };
  return {
    $gte: new Date(getBusinessDayByName(daysAfter(first, -limits.depositPaidWithinDays)).startMs),
    $lte: new Date(getBusinessDayByName(daysAfter(last, paidBeforeDays)).endMs),
  };
}

/** Those of which a line of this day can be the payment. */
export function filterInTime<T extends { day: string }>(day: string, candidates: readonly T[]): T[] {
  const [first, last] = [daysAfter(day, -limits.depositPaidWithinDays), daysAfter(day, paidBeforeDays)];
  return candidates.filter((each) => each.day >= first && each.day <= last);
}

async function findPaidDepositIds(
  candidates: readonly Pick<Candidate, '_id' | 'status'>[],
): Promise<Set<string>> {
  const ids = candidates.filter(({ status }) => status === 'completed').map(({ _id }) => _id);
  const paid = new Set<string>();
  for (const some of splitIntoChunks(ids, atOnce)) {
    const found = await BankLineModel.find(
      // With its type, or no index is taken: that of deposits has lines with one alone.
      { depositId: { $in: some, $type: 'string' } },
      { depositId: 1 },
    ).lean<Pick<BankLine, 'depositId'>[]>();
    found.forEach(({ depositId }) => paid.add(depositId ?? ''));
  }
  return paid;
}
