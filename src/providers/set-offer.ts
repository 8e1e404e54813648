import type { ChangedBy } from '../audit/record-audit.js';
import { changeOffer } from '../products/change-offer.js';
import type { ProductStatus } from '../products/product.model.js';
import { updateProduct } from '../products/update-product.js';
import { ConflictError, NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { findCatalogueItem, computeShares, type CatalogueOffer } from './catalogue.js';

export interface OfferChange {
  code: string;
  sellerId: string;
  /** Rupiah. */
  price?: number | undefined;
  /** Of the whole product, where the seller made it. */
  status?: ProductStatus | undefined;
  /** Sell at a price that does not bring in what it costs. */
  belowCost?: boolean | undefined;
}

/**
 * Changes an offer that exists, for its seller, as the operator. Purchases that were accepted keep their price.
 * @throws NotFoundError for a product, or an offer, that does not exist.
 * @throws ConflictError for a new price of which less is left than the provider asks, unless `belowCost` says so.
 */
export async function setOffer(change: OfferChange, by: ChangedBy): Promise<CatalogueOffer> {
  const { code, sellerId, price, status } = change;
  const before = await findOffer(code, sellerId);
  const margin =
    price === undefined || price === before.price ? null : computeShares({ ...before, price }).margin;
  if (margin !== null && margin < 0 && change.belowCost !== true) {
    throw new ConflictError(
      asWritten(
        `At ${String(price)} rupiah ${-margin} are lost with each sale: its provider asks ${String(before.cost)}, the commission comes off. Say so (below cost) if that is meant.`,
      ),
    );
  }
  if (before.isOwner) {
    await updateProduct({ sellerId, code, price, status }, by);
  } else {
    await changeOffer({ sellerId, productCode: code, price, status }, by);
  }
  return findOffer(code, sellerId);
}

async function findOffer(code: string, sellerId: string): Promise<CatalogueOffer> {
  const { offers } = await findCatalogueItem(code);
  const found = offers.find((each) => each.sellerId === sellerId);
  if (!found) {
    throw new NotFoundError(asWritten(`This seller has no offer for ${code}.`));
  }
  return found;
}
