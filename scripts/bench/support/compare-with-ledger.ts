/** Compares plots and sums of the console with the journals, to the rupiah. */
import { isDeepStrictEqual } from 'node:util';
import { formatBusinessDay } from '../../../src/shared/business-time.js';
import type { Business } from '../seed/seed-database.js';
import type { ConsoleSession } from './console-session.js';
import { requireTrue } from './print.js';
import { readLedgerSales, type Sold } from './ledger-sales.js';

interface Today {
  days: (Sold & { day: string })[];
  hours: { from: string; success: number; failed: number; refunded: number; open: number }[];
}

interface Sums {
  by_status: { status: string; count: number; amount: number }[];
  commission: number;
}

const hourMs = 3_600_000;
const noSales: Sold = { success: 0, sales: 0, commission: 0 };

/** @throws Error with the first difference. */
export async function compareWithLedger(session: ConsoleSession, business: Business): Promise<void> {
  const startedMs = performance.now();
  const today = await fetchData<Today>(session, '/api/today');
  const ledger = await readLedgerSales(new Date(Date.now() - 26 * hourMs));
  for (const { day, success, sales, commission } of today.days) {
    requireEqual(`the plot of ${day}`, { success, sales, commission }, ledger.days.get(day) ?? noSales);
  }
  for (const { from, success, failed, refunded, open } of today.hours) {
    const { success: s = 0, failed: f = 0, refunded: r = 0, open: o = 0 } = ledger.hours.get(from) ?? {};
    const wanted = { success: s, failed: f, refunded: r, open: o };
    requireEqual(`the plot of the hour from ${from}`, { success, failed, refunded, open }, wanted);
  }
  const period = `from=${formatBusinessDay(new Date(business.fromMs))}&to=${formatBusinessDay(new Date(business.untilMs))}`;
  for (const [field, some, sold] of [
    ['account', business.buyers.slice(0, 50), ledger.buyers],
    ['seller', business.sellers, ledger.sellers],
  ] as const) {
    for (const { id, username } of some) {
      const sums = await fetchData<Sums>(session, `/api/purchases/sums?${field}=${username}&${period}`);
      const { count = 0, amount = 0 } = sums.by_status.find(({ status }) => status === 'SUCCESS') ?? {};
      const found = { success: count, sales: amount, commission: sums.commission };
      requireEqual(`the sums of ${username}`, found, sold.get(id) ?? noSales);
    }
  }
  const all = today.days.reduce((sum, { sales }) => sum + sales, 0);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  console.log(
    `${today.days.length} days (${all} rupiah), ${today.hours.length} hours and the sums of 60 days of ` +
      `${business.sellers.length} sellers and 50 buyers match the journals (${seconds} s)`,
  );
}

async function fetchData<T>(session: ConsoleSession, path: string): Promise<T> {
  const { status, text } = await session.get(path);
  requireTrue(status === 200, `${path} returned ${status}: ${text.slice(0, 300)}`);
  return (JSON.parse(text) as { data: T }).data;
}

function requireEqual(what: string, found: object, wanted: object): void {
  requireTrue(
    isDeepStrictEqual(found, wanted),
    `${what} is ${JSON.stringify(found)}, but the journals have ${JSON.stringify(wanted)}`,
  );
}
