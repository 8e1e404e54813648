import { getQuickCollection } from '../../database/mongo.js';
import { batchCalls } from '../../shared/gathered.js';
import { openCase } from './record-contradiction.js';
import { parsePlnToken, getTokenSpellings } from '../pln-token.js';
import { purchases, type Purchase } from '../purchase.model.js';

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
