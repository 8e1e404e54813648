import { openCase } from './record-contradiction.js';
import { parsePlnToken, tokenSpellings } from '../pln-token.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/**
 * One serial number for two orders of a product is one delivery sold twice, or a provider that makes them up: the
 * operator gets a case for the later one. Called after the sale is settled; it moves no money.
 */
export async function noteRepeatedSerialNumber(
  purchase: Pick<Purchase, '_id' | 'productCode'>,
  serialNumber: string | null,
): Promise<void> {
  if (serialNumber === null) {
    return;
  }
  const other = await PurchaseModel.findOne(
    {
      productCode: purchase.productCode,
      $or: spellingsOf(serialNumber),
      _id: { $ne: purchase._id },
    },
    { _id: 1 },
  ).lean<Pick<Purchase, '_id'>>();
  if (other) {
    await openCase({
      transactionId: purchase._id,
      kind: 'repeated-serial-number',
      detail: `The serial number is that of transaction ${other._id} too.`,
    });
  }
}

/**
 * The serial number itself; of an electricity token also the same token with another name or other hyphens: it can
 * be used once ("0" is the character after "/"). The type is said again so that the partial index fits the question.
 */
function spellingsOf(serialNumber: string): { serialNumber: Record<string, string> }[] {
  const same = { serialNumber: { $eq: serialNumber, $type: 'string' } };
  const token = parsePlnToken(serialNumber);
  const ranges = (token ? tokenSpellings(token) : []).map((spelling) => ({
    serialNumber: { $gte: `${spelling}/`, $lt: `${spelling}0`, $type: 'string' },
  }));
  return [same, ...ranges];
}
