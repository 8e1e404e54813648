import { getIdRange } from '../database/document-page.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { withSnapshot } from '../database/mongo.js';
import { DepositModel } from '../deposits/deposit.model.js';
import { findLastClosedDay } from '../money/closes/day-closes.js';
import { addToCounters, type Counters } from '../money/totals/counters.js';
import { readTotalsOfMany } from '../money/totals/read-totals.js';
import { areTotalsComplete } from '../money/totals/totals-state.model.js';
import { findLastVerification } from '../reconciliation/ledger/run-verification.js';
import { SettlementModel } from '../settlements/settlement.model.js';
import { getBusinessDayByName } from '../shared/business-time.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { countAttention, type Attention } from './attention.js';

/** Number of documents and sum of their amounts in rupiah. */
export interface Sum {
  count: number;
  amount: number;
}

/**
 * Business of one day: purchases, deposits and settlements that were created on that day, with
 * their current states (decision 016).
 */
export interface DayReport {
  /** YYYY-MM-DD in business time. */
  day: string;
  from: Date;
  to: Date;
  /** By status. */
  purchases: Record<string, Sum>;
  /** Share of final purchases that succeeded, from 0 to 1. Null if no purchase is final. */
  successRatio: number | null;
  /** Commission of successful purchases in rupiah. */
  commission: number;
  /** Sellers of successful purchases, largest amounts first. */
  sellers: NamedSum[];
  providers: NamedSum[];
  categories: NamedSum[];
  products: NamedSum[];
  /** By status. */
  deposits: Record<string, Sum>;
  settlements: Record<string, Sum>;
  /** Work that waits for a person now, on whichever day it began. */
  attention: Attention;
  ledger: { closedDay: string | null; verifiedAt: Date | null; failures: number | null };
}

export interface NamedSum extends Sum {
  name: string;
}

/** Number of accounts whose totals are read together. */
const pageSize = 200;

/**
 * Sums a business day from the daily totals of its accounts. The cost grows with the number of
 * accounts and not with the number of sales.
 * @param options.top Maximum length of each list.
 * @throws ConflictError until the totals have been built for the first time.
 */
export async function buildDayReport(day: string, { top }: { top: number }): Promise<DayReport> {
  if (!(await areTotalsComplete())) {
    throw new ConflictError(asWritten('The daily totals have not been built yet. Run topup totals rebuild'));
  }
  const { startMs, endMs } = getBusinessDayByName(day);
  const [traded, deposits, settlements, attention, closed, verified] = await Promise.all([
    addUpTotals(day),
    sumByStatus(DepositModel, startMs, endMs),
    sumByStatus(SettlementModel, startMs, endMs),
    countAttention(),
    findLastClosedDay(),
    findLastVerification(),
  ]);
  const { bought, sellers, providers, commission } = traded;
  const purchases = groupByStatus(bought);
  const final = ['SUCCESS', 'FAILED', 'REFUNDED'].reduce((sum, each) => sum + getCount(purchases, each), 0);
  return {
    day,
    from: new Date(startMs),
    to: new Date(endMs),
    commission,
    purchases: Object.fromEntries(purchases),
    successRatio: final === 0 ? null : getCount(purchases, 'SUCCESS') / final,
    sellers: selectLargest([...sellers], top),
    providers: selectLargest([...providers], top),
    categories: selectLargest(sumByName(bought, 'categories'), top),
    products: selectLargest(sumByName(bought, 'products'), top),
    deposits,
    settlements,
    attention,
    ledger: {
      closedDay: closed?._id ?? null,
      verifiedAt: verified?.at ?? null,
      failures: verified?.failures ?? null,
    },
  };
}

interface DayTotals {
  bought: Counters;
  sellers: Map<string, Sum>;
  providers: Map<string, Sum>;
  commission: number;
}

async function addUpTotals(day: string): Promise<DayTotals> {
  const traded: DayTotals = { bought: new Map(), sellers: new Map(), providers: new Map(), commission: 0 };
  for (let after = ''; ;) {
    const page = await AccountModel.find({ _id: { $gt: after } }, { role: 1, username: 1, provider: 1 })
      .sort({ _id: 1 })
      .limit(pageSize)
      .lean<Account[]>();
    await addAccounts(traded, page, day);
    const last = page.at(-1);
    if (!last || page.length < pageSize) {
      return traded;
    }
    after = last._id;
  }
}

async function addAccounts(traded: DayTotals, page: Account[], day: string): Promise<void> {
  const totals = await withSnapshot((snapshot) =>
    readTotalsOfMany(snapshot, {
      accountIds: page.map(({ _id }) => _id),
      from: day,
      to: day,
      paths: ['bought', 'sold.count', 'sold.amount', 'sold.commission'],
    }),
  );
  const accounts = new Map(page.map((each) => [each._id, each]));
  for (const { accountId, counters } of totals) {
    const { role, username, provider } = accounts.get(accountId) ?? {};
    if (role === 'seller') {
      const sold = selectBelow(counters, 'sold');
      traded.commission += sold.get('commission') ?? 0;
      const sum = groupByStatus(sold).get('SUCCESS');
      if (sum) {
        addSum(traded.sellers, username ?? '', sum);
        addSum(traded.providers, provider?.kind ?? 'none', sum);
      }
    } else {
      addToCounters(traded.bought, selectBelow(counters, 'bought'));
    }
  }
}

/** Selects the counters below a path and removes the path from their names. */
function selectBelow(counters: Counters, path: string): Counters {
  const start = `${path}.`;
  return new Map(
    [...counters].flatMap(([each, value]) =>
      each.startsWith(start) ? [[each.slice(start.length), value] as const] : [],
    ),
  );
}

function groupByStatus(counters: Counters): Map<string, Sum> {
  const found = new Map<string, Sum>();
  for (const [path, value] of counters) {
    const [what, status = '', more] = path.split('.');
    if ((what === 'count' || what === 'amount') && more === undefined) {
      addSum(found, status, { count: 0, amount: 0, [what]: value });
    }
  }
  return found;
}

function getCount(sums: ReadonlyMap<string, Sum>, status: string): number {
  return sums.get(status)?.count ?? 0;
}

/** Sums the counters of a list by name, such as `categories.Pulsa.amount`. */
function sumByName(counters: Counters, list: string): [string, Sum][] {
  const found = new Map<string, Sum>();
  for (const [path, value] of counters) {
    const [first, step = '', what] = path.split('.');
    if (first === list && (what === 'count' || what === 'amount')) {
      addSum(found, decodeName(step), { count: 0, amount: 0, [what]: value });
    }
  }
  return [...found];
}

/** Decodes a path step that `toPathStep` has escaped. */
function decodeName(step: string): string {
  return step === '%' ? '' : decodeURIComponent(step);
}

function addSum(sums: Map<string, Sum>, name: string, added: Sum): void {
  const sum = sums.get(name) ?? { count: 0, amount: 0 };
  sums.set(name, { count: sum.count + added.count, amount: sum.amount + added.amount });
}

function selectLargest(sums: [string, Sum][], top: number): NamedSum[] {
  return sums
    .map(([name, sum]) => ({ name, ...sum }))
    .sort((a, b) => b.amount - a.amount || (a.name < b.name ? -1 : 1))
    .slice(0, top);
}

/**
 * Sums documents that were created on the day, by status. Ids sort by time only approximately, so
 * `createdAt` decides near the start and the end of the day.
 */
async function sumByStatus(
  model: typeof DepositModel | typeof SettlementModel,
  startMs: number,
  endMs: number,
): Promise<Record<string, Sum>> {
  const [since, until] = [new Date(startMs), new Date(endMs)];
  // Ids never change, so an index scan counts each document once.
  const made = { _id: getIdRange(null, { since, until }), createdAt: { $gte: since, $lte: until } };
  const found = await (model as typeof DepositModel).aggregate<Sum & { _id: string }>([
    { $match: made },
    { $group: { _id: '$status', count: { $sum: 1 }, amount: { $sum: '$amount' } } },
  ]);
  return Object.fromEntries(found.map(({ _id, count: number, amount }) => [_id, { count: number, amount }]));
}
