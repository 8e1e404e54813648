import { limits } from '../../../config/limits.js';
import { recordAudits, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction } from '../../database/mongo.js';
import { getCustomerNumberRule } from '../../products/create-product.js';
import { OfferModel, type Offer } from '../../products/offer.model.js';
import { ProductModel, type Product } from '../../products/product.model.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { now } from '../../shared/clock.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { ConflictError } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import { asWritten } from '../../shared/say.js';
import {
  createImport,
  finishImport,
  refuseUnconfirmed,
  saveWrittenRows,
  writePlannedChanges,
} from '../imports/apply-import.js';
import { getOfferId } from '../imports/plan-import.js';
import { PriceImportModel } from '../imports/price-import.model.js';
import {
  planCatalogue,
  type CataloguePlan,
  type CatalogueRequest,
  type CatalogueSeller,
  type NewOffer,
} from './plan-catalogue.js';

export interface AppliedCatalogue {
  importId: string;
  plan: CataloguePlan;
  created: number;
  changed: number;
  /** Codes at the provider whose product or offer another actor wrote meanwhile. */
  kept: string[];
}

/** Number of new offers per database transaction, which then ends well within its deadline. */
const batchSize = 100;

/**
 * Imports a provider's price list: creates products and offers, and changes price and cost of
 * existing offers. The import is stored like that of a price file, so `undoImport` restores the
 * earlier prices and makes new products inactive. If it is interrupted, another call continues,
 * because written offers no longer differ from the plan.
 *
 * @param request.meant See `ImportRequest`.
 * @param request.fingerprint Fingerprint of the previewed plan. If absent, the current plan applies.
 * @param onProgress Called with the number of rows written so far.
 * @throws ConflictError if nothing changes, if the seller would exceed its product limit, if the plan
 *   differs from the fingerprint, or if a change needs confirmation.
 */
export async function applyCatalogue(
  seller: CatalogueSeller,
  request: CatalogueRequest & { meant?: boolean | undefined; fingerprint?: string | undefined },
  by: ChangedBy,
  onProgress: (written: number) => void = () => undefined,
): Promise<AppliedCatalogue> {
  const plan = await planCatalogue(seller, request);
  const planned = plan.creates.length + plan.changes.changes.length;
  if (planned === 0) {
    throw new ConflictError(asWritten('No row of the price list changes anything.'));
  }
  if (request.fingerprint !== undefined && request.fingerprint !== plan.fingerprint) {
    throw new ConflictError(
      asWritten('The price list or an offer has changed since the preview. Review it again.'),
    );
  }
  if (request.meant !== true) {
    refuseUnconfirmed(plan.changes);
    refuseLoss(plan.creates);
    refuseUnlike(plan.creates);
  }
  await refuseAboveProductLimit(seller, plan.creates.length);
  const importId = newId();
  const details = { file: `price list of ${seller.username}`, planned };
  await createImport(importId, { ...details, by });
  const kept: string[] = [];
  let created = 0;
  for (const some of splitIntoChunks(plan.creates, batchSize)) {
    const written = await createOffers(some, { seller, importId, details, by });
    created += written.length;
    kept.push(...some.filter((each) => !written.includes(each)).map(({ sku }) => sku));
    onProgress(created + kept.length);
  }
  const { changed, skipped } = await writePlannedChanges(plan.changes.changes, {
    importId,
    details,
    meant: request.meant === true,
    by,
  });
  if (created + changed + kept.length + skipped.length === 0) {
    // Another import applied the same list concurrently.
    await PriceImportModel.deleteOne({ _id: importId, changed: 0 });
    throw new ConflictError(asWritten('No row of the price list changes anything.'));
  }
  await finishImport(importId);
  return { importId, plan, created, changed, kept: [...kept, ...skipped.map(({ code }) => code)] };
}

/** @throws ConflictError if a new offer would lose money with each sale. */
function refuseLoss(creates: NewOffer[]): void {
  const losing = creates.filter(({ loses }) => loses).map(({ sku }) => sku);
  if (losing.length > 0) {
    const named = `${losing.slice(0, 10).join(', ')}${losing.length > 10 ? ', …' : ''}`;
    throw new ConflictError(
      asWritten(
        `Each sale of ${losing.length} new products would lose money after the commission (${named}). Raise the margin, or confirm this if it is intended.`,
      ),
    );
  }
}

/** @throws ConflictError if a mapped product may be another one than that of the row. */
function refuseUnlike(creates: NewOffer[]): void {
  const unlike = creates.filter((each) => each.isUnlike);
  if (unlike.length > 0) {
    const named = unlike.slice(0, 10).map(({ sku, product }) => `${sku}=${product.code}`);
    throw new ConflictError(
      asWritten(
        `The operator or the price of ${unlike.length} mapped products differs much (${named.join(', ')}${unlike.length > 10 ? ', …' : ''}). Correct the mapping, or confirm this if it is intended.`,
      ),
    );
  }
}

async function refuseAboveProductLimit(seller: CatalogueSeller, count: number): Promise<void> {
  const limit = seller.productLimit ?? limits.productsPerSellerMax;
  const sold = await OfferModel.countDocuments({ sellerId: seller._id }).limit(limit);
  if (sold + count > limit) {
    throw new ConflictError(
      asWritten(
        `${seller.username} has ${sold} offers and may have ${limit}. Import fewer rows, or raise the limit: topup account set ${seller.username} --product-limit.`,
      ),
    );
  }
}

/**
 * Creates a batch of products and offers in one transaction. Products and offers that exist by now
 * are left as they are.
 * @returns What was created.
 */
function createOffers(
  wanted: NewOffer[],
  {
    seller,
    importId,
    details,
    by,
  }: { seller: CatalogueSeller; importId: string; details: object; by: ChangedBy },
): Promise<NewOffer[]> {
  const codes = wanted.map(({ product }) => product.code);
  return writeAndInvalidate([ProductModel, OfferModel], codes, (products, offers) =>
    runInTransaction(async (session) => {
      const found = await products
        .find({ _id: { $in: codes } })
        .session(session)
        .lean<Product[]>();
      const offered = await offers
        .find({ _id: { $in: codes.map((code) => getOfferId(code, seller._id)) } }, { productCode: 1 })
        .session(session)
        .lean<Offer[]>();
      const known = new Set(found.map(({ _id }) => _id));
      const taken = new Set(offered.map(({ productCode }) => productCode));
      const free = wanted.filter(
        ({ product, isMapped }) => !taken.has(product.code) && known.has(product.code) === isMapped,
      );
      if (free.length === 0) {
        return [];
      }
      const fresh = free.filter(({ isMapped }) => !isMapped);
      if (fresh.length > 0) {
        await products.insertMany(
          fresh.map((each) => buildProduct(each, seller._id)),
          { session },
        );
      }
      await offers.insertMany(
        free.map((each) => buildOffer(each, seller._id)),
        { session },
      );
      await recordAudits(
        session,
        free.map(({ product, sku, price, cost, isMapped }) => ({
          ...by,
          action: isMapped ? 'offer.put' : 'product.create',
          subject: { kind: 'product' as const, id: product.code },
          after: { sellerId: seller._id, sku, price, cost, importId },
        })),
      );
      await saveWrittenRows(
        session,
        free.map((each) => toOutcome(each, seller._id)),
        { importId, told: details, by },
      );
      return free;
    }),
  );
}

function buildProduct({ product }: NewOffer, sellerId: string): Product {
  const { code, ...given } = product;
  const at = now();
  return {
    _id: code,
    sellerId,
    ...given,
    status: 'active',
    description: null,
    customerNumber: getCustomerNumberRule(product),
    cutOff: null,
    maxWaitS: null,
    createdAt: at,
    updatedAt: at,
  };
}

function buildOffer({ product, sku, price, cost }: NewOffer, sellerId: string): Offer {
  const at = now();
  return {
    _id: getOfferId(product.code, sellerId),
    productCode: product.code,
    sellerId,
    ...(sku !== product.code && { sku }),
    price,
    status: 'active',
    cost,
    // Reached only if the loss is confirmed.
    ...(cost > price && { costAllowed: cost }),
    providerAvailable: true,
    createdAt: at,
    updatedAt: at,
  };
}

/** An undo makes the new offer inactive, because purchases may already name its product. */
function toOutcome({ line, sku, product, price, cost }: NewOffer, sellerId: string) {
  const after = { price, cost, status: 'active' as const };
  const before = { ...after, status: 'inactive' as const };
  return {
    change: { line, productCode: product.code, sellerId, sku, before, after },
    was: before,
    is: after,
    done: ['status' as const],
    left: [],
  };
}
