import type { ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/changing.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { OfferModel, type Offer } from './offer.model.js';
import type { ProductStatus } from './product.model.js';
import { recordOffer } from './record-offer.js';

/**
 * Changes an offer that exists; what is left out stays. Purchases that were accepted keep their price.
 * @throws NotFoundError (404/02)
 */
export async function changeOffer(
  change: {
    sellerId: string;
    productCode: string;
    /** Rupiah. */
    price?: number | undefined;
    status?: ProductStatus | undefined;
  },
  by: ChangedBy,
): Promise<void> {
  const { sellerId, productCode, price, status } = change;
  await writeAndInvalidate([OfferModel], [productCode], (offers) =>
    inTransaction(async (session) => {
      const before = await offers
        .findOneAndUpdate(
          { _id: `${productCode}:${sellerId}` },
          { $set: { ...(price !== undefined && { price }), ...(status && { status }) } },
          { session, returnDocument: 'before' },
        )
        .lean<Offer>();
      if (!before) {
        throw new NotFoundError(asWritten(`This seller has no offer for ${productCode}.`));
      }
      const after = { productCode, sellerId, price: price ?? before.price, status: status ?? before.status };
      await recordOffer(session, by, { before, after });
    }),
  );
}
