import { DateTime } from 'luxon';
import { env } from '../../config/env.js';
import type { Account } from '../accounts/account.model.js';
import type { ProviderRecordRow } from '../providers/adapter.js';
import { ValidationError } from '../shared/errors.js';
import { OrderModel, type Order } from '../purchases/order.model.js';

/**
 * only-provider: executed there, and not a sale of ours. only-ours: a sale of ours that their record does not
 * have. differs: both have it, with another result or serial number.
 */
export interface Difference {
  kind: 'only-provider' | 'only-ours' | 'differs';
  providerRef: string;
  ours: string | null;
  theirs: string | null;
}

export interface Reconciliation {
  date: string;
  /** Sales of ours, and executions of theirs, on this business day. */
  ours: number;
  theirs: number;
  matched: number;
  differences: Difference[];
}

const referencesPerQuery = 1_000;

/**
 * Compares a provider's own record with ours for one business day, in both directions. An order near midnight may
 * stand on different days: what is missing on one side is looked for by its reference on any day of the other.
 * @param record All rows that the provider gave; rows of other days only serve that search.
 * @param date YYYY-MM-DD in business time.
 * @throws ValidationError if it is no date.
 */
export async function reconcileProvider(
  seller: Pick<Account, '_id'>,
  date: string,
  record: ProviderRecordRow[],
): Promise<Reconciliation> {
  const day = dayOf(date);
  const theirs = record.filter(({ at, status }) => status === 'success' && at >= day.start && at < day.end);
  const ours = await OrderModel.find({
    sellerId: seller._id,
    createdAt: { $gte: day.start, $lt: day.end },
    status: 'OK',
  }).lean<Order[]>();
  const orderOf = await ordersByRef(seller._id, theirs);
  const rowOf = new Map(record.map((row) => [row.providerRef, row]));
  const differences = [
    ...theirs.flatMap((row) => compareTheirs(row, orderOf.get(row.providerRef))),
    ...ours.filter(({ _id }) => rowOf.get(_id)?.status !== 'success').map((order) => missing(order, rowOf)),
  ];
  const matched = theirs.filter(
    (row) => compareTheirs(row, orderOf.get(row.providerRef)).length === 0,
  ).length;
  return { date, ours: ours.length, theirs: theirs.length, matched, differences };
}

function dayOf(date: string): { start: Date; end: Date } {
  const start = DateTime.fromFormat(date, 'yyyy-MM-dd', { zone: env.BUSINESS_TIMEZONE });
  if (!start.isValid) {
    throw new ValidationError([{ field: 'date', message: 'date must be a day: YYYY-MM-DD' }]);
  }
  return { start: start.toJSDate(), end: start.plus({ days: 1 }).toJSDate() };
}

async function ordersByRef(sellerId: string, rows: ProviderRecordRow[]): Promise<Map<string, Order>> {
  const found = new Map<string, Order>();
  for (let from = 0; from < rows.length; from += referencesPerQuery) {
    const references = rows.slice(from, from + referencesPerQuery).map(({ providerRef }) => providerRef);
    const orders = await OrderModel.find({ _id: { $in: references } }).lean<Order[]>();
    orders.filter((each) => each.sellerId === sellerId).forEach((each) => found.set(each._id, each));
  }
  return found;
}

function compareTheirs(row: ProviderRecordRow, order: Order | undefined): Difference[] {
  const theirs = `success${row.serialNumber === null ? '' : ` ${row.serialNumber}`}`;
  const { providerRef } = row;
  if (!order) {
    return [{ kind: 'only-provider', providerRef, ours: null, theirs }];
  }
  if (order.status !== 'OK') {
    const ours = `${order.status} ${order.code ?? ''}`.trim();
    // Not final with us yet: a difference only until it is.
    return [{ kind: order.open ? 'differs' : 'only-provider', providerRef, ours, theirs }];
  }
  const isSame = row.serialNumber === null || row.serialNumber === order.serialNumber;
  return isSame
    ? []
    : [
        {
          kind: 'differs',
          providerRef,
          ours: `OK ${order.serialNumber ?? 'without serial number'}`,
          theirs,
        },
      ];
}

function missing(order: Order, rowOf: Map<string, ProviderRecordRow>): Difference {
  const row = rowOf.get(order._id);
  return {
    kind: row ? 'differs' : 'only-ours',
    providerRef: order._id,
    ours: `OK ${order.serialNumber ?? ''}`.trim(),
    theirs: row?.status ?? null,
  };
}
