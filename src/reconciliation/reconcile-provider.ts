import { DateTime } from 'luxon';
import type { Account } from '../accounts/account.model.js';
import type { ProviderRecordRow } from '../providers/adapter.js';
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { orders, type Order } from '../purchases/order.model.js';
import { groupBy } from '../shared/collections.js';
import { addDays, getStartOfDay } from '../shared/business-time.js';

/**
 * A difference between the provider's record and ours.
 * - only-provider: the provider executed it, but we have no such sale.
 * - only-ours: our sale is missing in the provider's record.
 * - differs: both records have it, with different results or serial numbers, or the provider's rows
 *   of one reference disagree.
 */
export interface Difference {
  kind: 'only-provider' | 'only-ours' | 'differs';
  providerRef: string;
  ours: string | null;
  theirs: string | null;
}

export interface Reconciliation {
  date: string;
  /** Number of our sales on this business day. */
  ours: number;
  /** Number of sales that the provider executed on this business day. */
  theirs: number;
  /** Number of rows of the record that belong to other business days. */
  otherDays: number;
  matched: number;
  /** Number of differences. `differences` holds only the first ones. */
  different: number;
  differences: Difference[];
}

const referencesPerQuery = 1_000;
/**
 * The two sides may record an order near midnight on different days, and the provider may execute
 * it late.
 */
const marginDays = 2;

/** Returns the period of the provider's record that is needed to compare a day (YYYY-MM-DD). */
export function getRecordPeriod(date: string): { since: Date; until: Date } {
  return {
    since: getStartOfDay(addDays(date, -marginDays)),
    until: getStartOfDay(addDays(date, 1 + marginDays)),
  };
}

/**
 * Compares a provider's record with ours for one business day, in both directions. The two sides
 * may record an order near midnight on different days. Orders that seem missing are therefore
 * looked up by reference on any day.
 *
 * @param record The provider's rows. Rows of other days are used only for that look-up.
 * @param date YYYY-MM-DD in business time.
 * @param differencesMax Maximum number of differences returned. All differences are counted.
 * @throws ValidationError if the date is invalid.
 */
export async function reconcileProvider(
  seller: Pick<Account, '_id'>,
  date: string,
  record: ProviderRecordRow[],
  differencesMax = Infinity,
): Promise<Reconciliation> {
  const day = getDayBounds(date);
  const isOfDay = ({ at }: ProviderRecordRow) => at >= day.start && at < day.end;
  const ofDay = record.filter(isOfDay);
  const theirs = dropRepetitions(ofDay.filter(({ status }) => status === 'success'));
  const disagreeing = findDisagreeing(record);
  const found: Reconciliation = {
    date,
    ours: 0,
    theirs: theirs.length,
    otherDays: record.length - ofDay.length,
    matched: 0,
    different: 0,
    differences: [],
  };
  const add = (difference: Difference): void => {
    found.different += 1;
    if (found.different <= differencesMax) {
      found.differences.push(difference);
    }
  };
  for (let from = 0; from < theirs.length; from += referencesPerQuery) {
    const rows = theirs.slice(from, from + referencesPerQuery);
    const orderOf = await findOrdersByRef(seller._id, rows);
    for (const row of rows) {
      const order = orderOf.get(row.providerRef);
      const difference = disagreeing.has(row.providerRef)
        ? buildDisagreement(row.providerRef, order, disagreeing)
        : compareProviderRow(row, order);
      if (difference) {
        add(difference);
      } else {
        found.matched += 1;
      }
    }
  }
  const shown = new Set(theirs.map(({ providerRef }) => providerRef));
  const rowOf = new Map(record.map((row) => [row.providerRef, row]));
  // The seller and creation time of an order never change, so each order is read once.
  const ours = orders.find<Sale>(
    { sellerId: seller._id, createdAt: { $gte: day.start, $lt: day.end }, status: 'OK' },
    { projection: saleFields },
  );
  for await (const order of ours) {
    found.ours += 1;
    const row = rowOf.get(order._id);
    if (disagreeing.has(order._id)) {
      if (!shown.has(order._id)) {
        add(buildDisagreement(order._id, order, disagreeing));
      }
    } else if (row?.status !== 'success') {
      add(buildMissingDifference(order, row));
    }
  }
  return found;
}

/** The fields of an order that are read. */
type Sale = Pick<Order, '_id' | 'sellerId' | 'status' | 'open' | 'code' | 'serialNumber'>;
const saleFields = { sellerId: 1, status: 1, open: 1, code: 1, serialNumber: 1 };

function getDayBounds(date: string): { start: Date; end: Date } {
  if (!DateTime.fromFormat(date, 'yyyy-MM-dd').isValid) {
    throw new ValidationError([{ field: 'date', message: asWritten('date must be a day: YYYY-MM-DD') }]);
  }
  return { start: getStartOfDay(date), end: getStartOfDay(addDays(date, 1)) };
}

async function findOrdersByRef(sellerId: string, rows: ProviderRecordRow[]): Promise<Map<string, Sale>> {
  const references = rows.map(({ providerRef }) => providerRef);
  const found = await orders.find<Sale>({ _id: { $in: references } }, { projection: saleFields }).toArray();
  return new Map(found.filter((each) => each.sellerId === sellerId).map((each) => [each._id, each]));
}

/** Keeps one success for each reference. Different ones disagree, and are shown together. */
function dropRepetitions(rows: ProviderRecordRow[]): ProviderRecordRow[] {
  const kept = new Map<string, ProviderRecordRow>();
  for (const row of rows) {
    if (!kept.has(row.providerRef) || row.serialNumber !== null) {
      kept.set(row.providerRef, row);
    }
  }
  return [...kept.values()];
}

/**
 * Finds references with several results: success and failed, or different serial numbers. A row that
 * is still pending disagrees with nothing.
 * @returns The results of each, as texts.
 */
function findDisagreeing(record: ProviderRecordRow[]): Map<string, string> {
  const byRef = groupBy(
    record.filter(({ status }) => status !== 'pending'),
    ({ providerRef }) => providerRef,
  );
  const disagreeing = new Map<string, string>();
  for (const [providerRef, rows] of byRef) {
    const serials = new Set(rows.flatMap(({ serialNumber }) => serialNumber ?? []));
    if (new Set(rows.map(({ status }) => status)).size > 1 || serials.size > 1) {
      const texts = rows.map(({ status, serialNumber }) => `${status} ${serialNumber ?? ''}`.trim());
      disagreeing.set(providerRef, [...new Set(texts)].join('; '));
    }
  }
  return disagreeing;
}

function buildDisagreement(
  providerRef: string,
  order: Sale | undefined,
  disagreeing: Map<string, string>,
): Difference {
  const ours = order && `${order.status} ${order.serialNumber ?? order.code ?? ''}`.trim();
  return { kind: 'differs', providerRef, ours: ours ?? null, theirs: disagreeing.get(providerRef) ?? null };
}

/** Returns null if both sides agree. */
function compareProviderRow(row: ProviderRecordRow, order: Sale | undefined): Difference | null {
  const theirs = `success${row.serialNumber === null ? '' : ` ${row.serialNumber}`}`;
  const { providerRef } = row;
  if (!order) {
    return { kind: 'only-provider', providerRef, ours: null, theirs };
  }
  if (order.status !== 'OK') {
    const ours = `${order.status} ${order.code ?? ''}`.trim();
    // Our order is not final yet, so the difference may disappear.
    return { kind: order.open ? 'differs' : 'only-provider', providerRef, ours, theirs };
  }
  if (row.serialNumber === null || row.serialNumber === order.serialNumber) {
    return null;
  }
  return {
    kind: 'differs',
    providerRef,
    ours: `OK ${order.serialNumber ?? 'without serial number'}`,
    theirs,
  };
}

function buildMissingDifference(order: Sale, row: ProviderRecordRow | undefined): Difference {
  return {
    kind: row ? 'differs' : 'only-ours',
    providerRef: order._id,
    ours: `OK ${order.serialNumber ?? ''}`.trim(),
    theirs: row?.status ?? null,
  };
}
