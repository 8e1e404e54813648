/**
 * Computes sales only from the journals, read in the order of their subjects, one purchase at a
 * time.
 */
import { journals, type Journal } from '../../../src/money/journals/journal.model.js';
import { formatBusinessDay } from '../../../src/shared/business-time.js';

/** Purchases that succeeded and were not reversed. `sales` and commission are in rupiah. */
export interface Sold {
  success: number;
  sales: number;
  commission: number;
}

/** Sales by day, buyer or seller. */
export type SoldBy = Map<string, Sold>;

export interface LedgerSales {
  /** Sales by the business day of the debit. */
  days: SoldBy;
  /** Number of purchases by the hour of the debit (ISO), and by the kind of their last journal. */
  hours: Map<string, Record<string, number>>;
  buyers: SoldBy;
  sellers: SoldBy;
}

export async function readLedgerSales(since: Date): Promise<LedgerSales> {
  const found: LedgerSales = { days: new Map(), hours: new Map(), buyers: new Map(), sellers: new Map() };
  let subject: Journal[] = [];
  const read = journals
    .find({}, { projection: { subjectId: 1, kind: 1, accountId: 1, lines: 1, createdAt: 1 } })
    .sort({ subjectId: 1 })
    .batchSize(5_000);
  for await (const journal of read) {
    if (subject[0] && subject[0].subjectId !== journal.subjectId) {
      count(found, subject, since);
      subject = [];
    }
    subject.push(journal);
  }
  count(found, subject, since);
  return found;
}

function count(found: LedgerSales, subject: Journal[], since: Date): void {
  const of = (kind: Journal['kind']) => subject.find((each) => each.kind === kind);
  const [debit, success] = [of('purchase'), of('success')];
  if (!debit) {
    return;
  }
  const end = of('reversal') ? 'refunded' : success ? 'success' : of('refund') ? 'failed' : 'open';
  if (debit.createdAt >= since) {
    const hour = new Date(Math.floor(debit.createdAt.getTime() / 3_600_000) * 3_600_000).toISOString();
    const ends = found.hours.get(hour) ?? {};
    found.hours.set(hour, { ...ends, [end]: (ends[end] ?? 0) + 1 });
  }
  if (end !== 'success' || !success) {
    return;
  }
  const sum = (each: Journal, begin: string) =>
    each.lines
      .filter(({ account }) => account.startsWith(begin))
      .reduce((all, { amount }) => all + amount, 0);
  const sale = { sales: sum(debit, 'platform:suspense'), commission: sum(success, 'platform:revenue') };
  const seller = success.lines
    .find(({ account }) => account.startsWith('payable:'))
    ?.account.slice('payable:'.length);
  add(found.days, formatBusinessDay(debit.createdAt), sale);
  add(found.buyers, debit.accountId, sale);
  add(found.sellers, seller ?? '', sale);
}

function add(sums: SoldBy, key: string, { sales, commission }: Omit<Sold, 'success'>): void {
  const sum = sums.get(key) ?? { success: 0, sales: 0, commission: 0 };
  sum.success += 1;
  sum.sales += sales;
  sum.commission += commission;
  sums.set(key, sum);
}
