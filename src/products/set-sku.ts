import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { runInTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { getSku, OfferModel, type Offer } from './offer.model.js';

/**
 * Sets the product's code at the provider of an offer (`Offer.sku`). Orders that were sent keep
 * their code. The cost, availability and cut-off belong to the old code, so they become unknown
 * until the price list is read again.
 * @param sku Null restores the product code.
 * @throws NotFoundError (404/02) if the seller has no offer for the product.
 */
export async function setSku(
  { sellerId, productCode, sku }: { sellerId: string; productCode: string; sku: string | null },
  by: ChangedBy,
): Promise<void> {
  await writeAndInvalidate([OfferModel], [productCode], (offers) =>
    runInTransaction(async (session) => {
      const _id = `${productCode}:${sellerId}`;
      const offer = await offers.findById(_id).session(session).lean<Offer>();
      if (!offer) {
        throw new NotFoundError(asWritten(`This seller has no offer for ${productCode}.`));
      }
      const [before, after] = [getSku(offer), sku ?? productCode];
      if (before === after) {
        return;
      }
      await offers.updateOne(
        { _id },
        {
          $set: { sku: after === productCode ? null : after },
          $unset: { cost: 1, costAllowed: 1, providerAvailable: 1, cutOff: 1 },
        },
        { session },
      );
      await recordAudit(session, {
        ...by,
        action: 'offer.sku',
        subject: { kind: 'product', id: productCode },
        before: { sellerId, sku: before },
        after: { sellerId, sku: after },
      });
    }),
  );
}
