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

/** What a provider says about an order after the purchase has moved on. */
export type LateAnswer = 'success' | 'failed' | 'under way';

/**
 * A late answer met a purchase that had already moved. It is about an order, so it is the order that it is compared
 * with: that another order of the same purchase has succeeded makes a late success a second execution. Nothing is
 * changed; what contradicts becomes a case for the operator.
 */
export async function recordContradiction(
  { _id: purchaseId, accountId }: Pick<Purchase, '_id' | 'accountId'>,
  late: { order: Pick<Order, '_id' | 'accountId'>; says: LateAnswer },
): Promise<void> {
  const [purchase, order] = await Promise.all([
    PurchaseModel.findOne({ _id: purchaseId, accountId }).lean<Purchase>(),
    OrderModel.findOne(getOrderKey(late.order)).lean<Order>(),
  ]);
  if (!purchase || !order || !isContradiction(purchase, order, late.says)) {
    return;
  }
  const detail = `The transaction is ${purchase.status} and attempt ${order.n} ${order.status}; a late answer says of this attempt: ${late.says}`;
  await openCase({ transactionId: purchaseId, kind: 'contradicting-answer', detail }, purchase);
}

function isContradiction(purchase: Purchase, order: Order, says: LateAnswer): boolean {
  switch (says) {
    case 'success':
    case 'under way':
      // Refused or believed never to have been executed, or the purchase has ended without it.
      return order.status === 'REJECTED' || (order.status !== 'OK' && isFinal(purchase.status));
    case 'failed':
      return order.status === 'OK';
  }
}

/** Opens a case for the operator; the same case again changes nothing. */
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
 * One serial number for two orders of a product is one delivery sold twice, or a provider that makes them up: the
 * operator gets a case for the later one. Called after the sale is settled; it moves no money.
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
    const detail = `The serial number is that of transaction ${other._id} too.`;
    await openCase({ transactionId: purchase._id, kind: 'repeated-serial-number', detail }, purchase);
  }
}

interface SoldSerialNumber {
  purchase: Pick<Purchase, '_id' | 'productCode'>;
  serialNumber: string;
}

type SerialNumberMatch = Pick<Purchase, '_id' | 'productCode' | 'serialNumber'>;

/** What a shared query may return: a provider that gives all the same number is asked about one by one. */
const sharedMax = 400;

/** Another purchase with that serial number, if there is one. Sales of the same moment share a query. */
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
    // Two: one of them is the sale itself.
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
 * The serial number itself; of an electricity token also the same token with another name or other hyphens: it can
 * be used once ("0" is the character after "/"). The type is said again so that the partial index fits the question.
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
