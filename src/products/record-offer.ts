import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import type { Session } from '../database/mongo.js';
import type { Offer } from './offer.model.js';

/** Writes down what became of an offer; nothing where it is as it was. Null before: it is new. */
export async function recordOffer(
  session: Session,
  by: ChangedBy,
  {
    before,
    after,
  }: { before: Offer | null; after: Pick<Offer, 'productCode' | 'sellerId' | 'price' | 'status'> },
): Promise<void> {
  const { productCode, sellerId, price, status } = after;
  if (before?.price === price && before.status === status) {
    return;
  }
  await recordAudit(session, {
    ...by,
    action: 'offer.put',
    subject: { kind: 'product', id: productCode },
    before: before && { sellerId, price: before.price, status: before.status },
    after: { sellerId, price, status },
  });
}
