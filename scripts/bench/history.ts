/**
 * `npm run bench -- history`: first, middle and last page of a history of ROWS purchases against
 * one of 10,000, for every filter, in A-B-B-A order. Rows are inserted directly; `rebuildTotals`
 * builds the totals and is measured too.
 */
import '../../src/all-models.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { connectMongo, disconnectMongo } from '../../src/database/mongo.js';
import { migrate } from '../../src/database/migrate.js';
import { listTransactions, type HistoryQuery } from '../../src/purchases/history.js';
import {
  purchases,
  toStored,
  type Purchase,
  type PurchaseStatus,
} from '../../src/purchases/purchase.model.js';
import { rebuildTotals } from '../../src/purchases/rebuild-totals.js';
import { getBusinessDay } from '../../src/shared/business-time.js';
import { newId } from '../../src/shared/ids.js';

const small = 10_000;
const rows = Number(process.env['ROWS'] ?? 1_000_000);
const days = Number(process.env['DAYS'] ?? 30);
const calls = Number(process.env['CALLS'] ?? 200);
const limit = 20;
const batch = 5_000;
const dayMs = 86_400_000;

type Filter = Pick<HistoryQuery, 'status' | 'startDate' | 'endDate'>;

const partialDays = {
  startDate: new Date(Date.now() - (days / 2) * dayMs - 1_234_567).toISOString(),
  endDate: new Date(Date.now() - 7_654_321).toISOString(),
};
const filters: [name: string, filter: Filter][] = [
  ['all', {}],
  ['success', { status: 'success' }],
  ['failed', { status: 'failed' }],
  ['broken days', partialDays],
];

export async function benchHistory(): Promise<void> {
  await connectMongo();
  await migrate();
  const few = await fill(small);
  const many = await fill(rows);
  const atMs = performance.now();
  const rebuilt = await rebuildTotals();
  const seconds = (performance.now() - atMs) / 1_000;
  console.log(
    `totals of ${rebuilt.days} days and ${rows + small} purchases made in ${seconds.toFixed(1)} s ` +
      `(${((rows + small) / seconds).toFixed(0)} purchases/s)`,
  );
  console.log(`${rows} purchases over ${days} days compared with ${small}, ms, ${calls} calls of each page`);
  console.log(
    `${'filter, page'.padEnd(22)}${['p50', 'p50 10⁴', '', 'p99', 'p99 10⁴', ''].map((each) => each.padStart(9)).join('')}`,
  );
  for (const [name, filter] of filters) {
    for (const page of ['first', 'middle', 'last'] as const) {
      await compare(`${name}, ${page}`, filter, page, { few, many });
    }
  }
  await disconnectMongo();
}

async function compare(
  name: string,
  filter: Filter,
  page: 'first' | 'middle' | 'last',
  { few, many }: { few: string; many: string },
): Promise<void> {
  const query = async (accountId: string): Promise<HistoryQuery> => {
    const first = { owner: { accountId }, ...filter, page: 1, limit };
    const pages = Math.ceil((await listTransactions(first)).total / limit);
    return { ...first, page: { first: 1, middle: Math.ceil(pages / 2), last: pages }[page] };
  };
  const [ofFew, ofMany] = [await query(few), await query(many)];
  const timesFew: number[] = [];
  const timesMany: number[] = [];
  for (let call = 0; call < calls / 2; call++) {
    timesFew.push(await timeQuery(ofFew));
    timesMany.push(await timeQuery(ofMany));
    timesMany.push(await timeQuery(ofMany));
    timesFew.push(await timeQuery(ofFew));
  }
  const at = (times: number[], share: number) =>
    times.sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN;
  const cells = [0.5, 0.99].flatMap((share) => {
    const [ours, theirs] = [at(timesMany, share), at(timesFew, share)];
    return [ours.toFixed(1), theirs.toFixed(1), `×${(ours / theirs).toFixed(2)}`];
  });
  console.log(`${name.padEnd(22)}${cells.map((each) => each.padStart(9)).join('')}`);
}

async function timeQuery(query: HistoryQuery): Promise<number> {
  const atMs = performance.now();
  const { purchases: found } = await listTransactions(query);
  if (found.length === 0) {
    throw new Error(`page ${query.page} is empty`);
  }
  return performance.now() - atMs;
}

/** @returns Id of an account with `count` evenly spread purchases. */
async function fill(count: number): Promise<string> {
  const { account } = await createAccount(
    { username: `bench-${newId().slice(12)}`, role: 'buyer' },
    { actor: 'bench', from: null, reason: null },
  );
  const fromMs = getBusinessDay(new Date(Date.now() - (days - 1) * dayMs)).startMs;
  const everyMs = (Date.now() - fromMs) / count;
  for (let start = 0; start < count; start += batch) {
    const made = Array.from({ length: Math.min(batch, count - start) }, (_, index) =>
      buildPurchaseRow(start + index, account._id, new Date(fromMs + Math.floor((start + index) * everyMs))),
    );
    await purchases.insertMany(made.map(toStored), { ordered: false, writeConcern: { w: 1 } });
  }
  return account._id;
}

const statuses: PurchaseStatus[] = [...Array<PurchaseStatus>(18).fill('SUCCESS'), 'FAILED', 'REFUNDED'];

function buildPurchaseRow(index: number, accountId: string, createdAt: Date): Purchase {
  const status = statuses[(index * 7) % statuses.length] ?? 'SUCCESS';
  return {
    _id: newId(),
    accountId,
    refId: `bench-${index}`,
    surface: 'buyer',
    kind: 'prepaid',
    productCode: `P${index % 50}`,
    productName: 'Telkomsel 10.000',
    subcategory: 'pulsa',
    customerNumber: '081234567890',
    customerRule: 'phone',
    price: 10_500,
    offerSellerId: 'bench',
    quoteId: null,
    status,
    version: 3,
    serialNumber: null,
    message: null,
    failureCode: null,
    sellerId: null,
    commissionAmount: null,
    callbackUrl: null,
    epoch: 0,
    nextActionAt: null,
    queuedFor: null,
    reviewSince: null,
    pendingNotified: true,
    createdAt,
    updatedAt: createdAt,
    finalAt: createdAt,
  };
}
