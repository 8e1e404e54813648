import { quick } from '../../database/mongo.js';
import { gathered } from '../../shared/gathered.js';
import { openCase } from './record-contradiction.js';
import { parsePlnToken, tokenSpellings } from '../pln-token.js';
import { purchases, type Purchase } from '../purchase.model.js';

/**
 * One serial number for two orders of a product is one delivery sold twice, or a provider that makes them up: the
 * operator gets a case for the later one. Called after the sale is settled; it moves no money.
 */
export async function noteRepeatedSerialNumber(
  purchase: Pick<Purchase, '_id' | 'productCode' | 'requestId'>,
  serialNumber: string | null,
): Promise<void> {
  if (serialNumber === null) {
    return;
  }
  const other = await findOther({ purchase, serialNumber });
  if (other) {
    const detail = `The serial number is that of transaction ${other._id} too.`;
    await openCase({ transactionId: purchase._id, kind: 'repeated-serial-number', detail }, purchase);
  }
}

interface Sold {
  purchase: Pick<Purchase, '_id' | 'productCode'>;
  serialNumber: string;
}

type Found = Pick<Purchase, '_id' | 'productCode' | 'serialNumber'>;

/** What a shared query may return: a provider that gives all the same number is asked about one by one. */
const sharedMax = 400;

/** Another purchase with that serial number, if there is one. Sales of the same moment share a query. */
const findOther = gathered<Sold, Found | undefined>({
  itemsMax: 50,
  async run(sales) {
    const find = (filter: object, most: number) =>
      quick(purchases)
        .find<Found>(filter, { projection: { _id: 1, productCode: 1, serialNumber: 1 } })
        .limit(most)
        .toArray();
    const together = await find({ $or: sales.flatMap(withThatNumber) }, sharedMax);
    if (together.length < sharedMax) {
      return sales.map((sale) => together.find((found) => isAnotherOf(found, sale)));
    }
    // Two: one of them is the sale itself.
    return Promise.all(
      sales.map(async (sale) => {
        const found = await find({ $or: withThatNumber(sale) }, 2);
        return found.find((each) => isAnotherOf(each, sale));
      }),
    );
  },
});

function isAnotherOf(found: Found, { purchase, serialNumber }: Sold): boolean {
  const theirs = found.serialNumber ?? '';
  return (
    found._id !== purchase._id &&
    found.productCode === purchase.productCode &&
    (theirs === serialNumber || spellings(serialNumber).some((each) => theirs.startsWith(`${each}/`)))
  );
}

/**
 * The serial number itself; of an electricity token also the same token with another name or other hyphens: it can
 * be used once ("0" is the character after "/"). The type is said again so that the partial index fits the question.
 */
function withThatNumber({ purchase: { productCode }, serialNumber }: Sold): object[] {
  const ranges = spellings(serialNumber).map((each) => ({ $gte: `${each}/`, $lt: `${each}0` }));
  return [{ $eq: serialNumber }, ...ranges].map((range) => ({
    productCode,
    serialNumber: { ...range, $type: 'string' },
  }));
}

function spellings(serialNumber: string): string[] {
  const token = parsePlnToken(serialNumber);
  return token ? tokenSpellings(token) : [];
}
