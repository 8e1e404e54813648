import { now } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { logger } from '../../shared/logger.js';
import { isDuplicateKey, getQuickCollection } from '../../database/mongo.js';
import { getOrderKey, OrderModel, type Order } from '../order.model.js';
import { CaseModel, type ReconciliationCase } from '../case.model.js';
import { isFinal } from '../states.js';
import { PurchaseModel, type Purchase, purchases } from '../purchase.model.js';
import { batchCalls } from '../../shared/concurrency.js';
import { parsePlnToken, getTokenSpellings } from '../pln-token.js';

/** A provider's response about an order that arrives after the purchase has moved on. */
export type LateResponse = 'success' | 'failed' | 'under way';

/**
 * Opens a case if a late response contradicts its order. The response is compared with the order
 * and not with the purchase. If another order of the purchase succeeded, a late success is a second
 * execution. Nothing else is changed.
 */
export async function recordContradiction(
  { _id: purchaseId, accountId }: Pick<Purchase, '_id' | 'accountId'>,
  late: { order: Pick<Order, '_id' | 'accountId'>; answer: LateResponse },
): Promise<void> {
  const [purchase, order] = await Promise.all([
    PurchaseModel.findOne({ _id: purchaseId, accountId }).lean<Purchase>(),
    OrderModel.findOne(getOrderKey(late.order)).lean<Order>(),
  ]);
  if (!purchase || !order || !isContradiction(purchase, order, late.answer)) {
    return;
  }
  const detail = `The transaction is ${purchase.status} and attempt ${order.n} is ${order.status}, but a late response about this attempt reports: ${late.answer}`;
  await openCase({ transactionId: purchaseId, kind: 'contradicting-answer', detail }, purchase);
}

function isContradiction(purchase: Purchase, order: Order, answer: LateResponse): boolean {
  switch (answer) {
    case 'success':
    case 'under way':
      // The order was rejected, or the purchase ended without this order.
      return order.status === 'REJECTED' || (order.status !== 'OK' && isFinal(purchase.status));
    case 'failed':
      return order.status === 'OK';
  }
}

/** Opens a case for the operator. An identical case is not opened again. */
export async function openCase(
  input: Pick<ReconciliationCase, 'kind' | 'detail'> & { transactionId: string },
  { requestId }: Pick<Purchase, 'requestId'> = {},
): Promise<void> {
  try {
    await CaseModel.create({ ...input, _id: newId(), createdAt: now(), resolvedAt: null });
    logger.error('a case needs the operator', { ...input, requestId });
  } catch (error) {
    if (!isDuplicateKey(error)) {
      throw error;
    }
  }
}

/**
 * Opens a case if another purchase of the product has this serial number. Either one delivery was
 * sold twice, or the provider invents numbers. Call this function after the sale is settled. It
 * moves no money.
 */
export async function reportRepeatedSerialNumber(
  purchase: Pick<Purchase, '_id' | 'productCode' | 'requestId'>,
  serialNumber: string | null,
): Promise<void> {
  if (serialNumber === null) {
    return;
  }
  const other = await findOtherSale({ purchase, serialNumber });
  if (other) {
    const detail = `Transaction ${other._id} has the same serial number.`;
    await openCase({ transactionId: purchase._id, kind: 'repeated-serial-number', detail }, purchase);
  }
}

/**
 * Opens a case if the provider took more than the maximum that was sent with the order. Call this
 * function before the sale is settled: the order is closed afterwards, and no later response would
 * repeat the cost. It moves no money.
 * @param cost Rupiah. Null if the provider does not state it.
 */
export async function reportHighCost(
  purchase: Pick<Purchase, '_id' | 'requestId'>,
  { n, offerPrice, costMax = offerPrice }: Pick<Order, 'n' | 'offerPrice' | 'costMax'>,
  cost: number | null,
): Promise<void> {
  if (cost === null || cost <= costMax) {
    return;
  }
  const kind = 'cost-above-maximum' as const;
  const earlier = { transactionId: purchase._id, kind, detail: { $regex: ` for attempt ${n}\\.` } };
  if (await CaseModel.exists(earlier)) {
    return;
  }
  const detail = `The provider took ${cost} rupiah for attempt ${n}. The maximum sent with it was ${costMax} rupiah.`;
  await openCase({ transactionId: purchase._id, kind, detail }, purchase);
}

interface SoldSerialNumber {
  purchase: Pick<Purchase, '_id' | 'productCode'>;
  serialNumber: string;
}

type SerialNumberMatch = Pick<Purchase, '_id' | 'productCode' | 'serialNumber'>;

/**
 * Row limit of a shared query. If the query reaches the limit because a provider repeats one
 * number, each sale gets its own query.
 */
const sharedMax = 400;

/** Finds another purchase with the serial number. Concurrent calls share a query. */
const findOtherSale = batchCalls<SoldSerialNumber, SerialNumberMatch | undefined>({
  itemsMax: 50,
  async run(sales) {
    const find = (filter: object, most: number) =>
      getQuickCollection(purchases)
        .find<SerialNumberMatch>(filter, { projection: { _id: 1, productCode: 1, serialNumber: 1 } })
        .limit(most)
        .toArray();
    const together = await find({ $or: sales.flatMap(buildSerialNumberConditions) }, sharedMax);
    if (together.length < sharedMax) {
      return sales.map((sale) => together.find((found) => isOtherSale(found, sale)));
    }
    // Read two rows, because one of them is the sale itself.
    return Promise.all(
      sales.map(async (sale) => {
        const found = await find({ $or: buildSerialNumberConditions(sale) }, 2);
        return found.find((each) => isOtherSale(each, sale));
      }),
    );
  },
});

function isOtherSale(found: SerialNumberMatch, { purchase, serialNumber }: SoldSerialNumber): boolean {
  const theirs = found.serialNumber ?? '';
  return (
    found._id !== purchase._id &&
    found.productCode === purchase.productCode &&
    (theirs === serialNumber ||
      getSerialSpellings(serialNumber).some((each) => theirs.startsWith(`${each}/`)))
  );
}

/**
 * Matches the serial number. A token can be used once, so the same token with another name or other
 * hyphens also matches ("0" is the character after "/"). `$type` makes the query fit the partial
 * index.
 */
function buildSerialNumberConditions({
  purchase: { productCode },
  serialNumber,
}: SoldSerialNumber): object[] {
  const ranges = getSerialSpellings(serialNumber).map((each) => ({ $gte: `${each}/`, $lt: `${each}0` }));
  return [{ $eq: serialNumber }, ...ranges].map((range) => ({
    productCode,
    serialNumber: { ...range, $type: 'string' },
  }));
}

function getSerialSpellings(serialNumber: string): string[] {
  const token = parsePlnToken(serialNumber);
  return token ? getTokenSpellings(token) : [];
}
