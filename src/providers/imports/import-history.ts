import { PriceImportModel, type PriceImport, offerFields, type OfferFigures } from './price-import.model.js';
import type { AuditEntry } from '../../audit/audit.model.js';
import { findAuditPage } from '../../audit/read-audit.js';
import { findUsernames } from '../../accounts/find-account.js';
import { findCatalogueItem } from '../catalogue.js';
import { NotFoundError } from '../../shared/errors.js';
import { lookUp } from '../../shared/collections.js';
import { asWritten } from '../../shared/say.js';
import { ProductModel, type Product } from '../../products/product.model.js';

/** Returns a page of imports, newest first. @param query.after The last id of the previous page. */
export async function listImports(query: {
  after?: string | undefined;
  limit: number;
}): Promise<{ imports: PriceImport[]; next: string | null }> {
  const { after, limit } = query;
  // Ids are ordered by creation time.
  const found = await PriceImportModel.find(after === undefined ? {} : { _id: { $lt: after } })
    .sort({ _id: -1 })
    .limit(limit + 1)
    .lean<PriceImport[]>();
  const imports = found.slice(0, limit);
  return { imports, next: found.length > limit ? (imports.at(-1)?._id ?? null) : null };
}

/** The values of an offer that changed at one moment. */
export interface OfferHistoryEntry extends Partial<OfferFigures> {
  at: Date;
  actor: string;
  action: string;
  reason: string | null;
  /** The import that applied or undid the change. */
  importId: string | null;
}

/**
 * Returns the changes of an offer's price, cost and status from the audit log, newest first. Costs
 * from a provider's own price list are not included.
 * @param page.before Only entries before this time. Pass `next` of the previous page.
 * @throws NotFoundError if the product or the offer does not exist.
 */
export async function readOfferHistory(
  { code, sellerId }: { code: string; sellerId: string },
  page: { before?: Date | undefined; limit: number },
): Promise<{ moments: OfferHistoryEntry[]; next: Date | null }> {
  const { offers } = await findCatalogueItem(code);
  const offer = offers.find((each) => each.sellerId === sellerId);
  if (!offer) {
    throw new NotFoundError(asWritten(`This seller has no offer for ${code}.`));
  }
  const { found, next } = await findAuditPage({ subjectKind: 'product', subjectId: code }, page);
  return { moments: found.flatMap((each) => toOfferHistoryEntry(each, offer) ?? []), next };
}

function toOfferHistoryEntry(
  { at, actor, action, reason, before, after }: AuditEntry,
  { sellerId, isOwner }: { sellerId: string; isOwner: boolean },
): OfferHistoryEntry | null {
  const was = toFields(before);
  const is = toFields(after);
  // If the product's owner changed its product, the audit entry has no seller.
  const isOfOffer = is['sellerId'] === sellerId || (isOwner && is['sellerId'] === undefined);
  const changed = getChangedFields(was, is);
  if (!isOfOffer || changed.length === 0) {
    return null;
  }
  return {
    at,
    actor,
    action,
    reason,
    ...pickFigures(is, changed),
    importId: typeof is['importId'] === 'string' ? is['importId'] : null,
  };
}

/** A change of any seller's offer. */
export interface OfferChange {
  at: Date;
  actor: string;
  reason: string | null;
  code: string;
  /** Username of the seller. */
  seller: string;
  /** The changed fields with their previous values. Empty for a new offer. */
  was: Partial<OfferFigures>;
  is: Partial<OfferFigures>;
}

export interface OfferChanges {
  changes: OfferChange[];
  next: Date | null;
  /** If the page is not full, the time back to which entries were searched. */
  searchedBackTo: Date | null;
}

/**
 * Returns changes of the prices, costs and statuses of all offers, newest first. Costs from a
 * provider's own price list are not included.
 * @param filter.since Only changes since this time.
 * @param filter.sellerId Only offers of this seller.
 * @param page See `readOfferHistory`.
 */
export async function readOfferChanges(
  { since, sellerId }: { since: Date; sellerId?: string | undefined },
  page: { before?: Date | undefined; limit: number },
): Promise<OfferChanges> {
  const { found, next, searchedBackTo } = await findAuditPage({ subjectKind: 'product', since }, page);
  const changed = found
    .map((entry) => ({ entry, was: toFields(entry.before), is: toFields(entry.after) }))
    .map((each) => ({ ...each, fields: getChangedFields(each.was, each.is) }))
    .filter(({ fields }) => fields.length > 0);
  const codes = [...new Set(changed.map(({ entry }) => entry.subject.id))];
  const owners = new Map(
    (await ProductModel.find({ _id: { $in: codes } }, { sellerId: 1 }).lean<Product[]>()).map((each) => [
      each._id,
      each.sellerId,
    ]),
  );
  // If the product's owner changed its product, the audit entry has no seller.
  const sellerOf = ({ entry, is }: (typeof changed)[number]) =>
    typeof is['sellerId'] === 'string' ? is['sellerId'] : (owners.get(entry.subject.id) ?? '');
  const wanted = changed.filter((each) => sellerId === undefined || sellerOf(each) === sellerId);
  const usernames = await findUsernames(wanted.map(sellerOf));
  return {
    changes: wanted.map((each) => {
      const { at, actor, reason, subject } = each.entry;
      return {
        at,
        actor,
        reason,
        code: subject.id,
        seller: lookUp(usernames, sellerOf(each)) ?? '',
        was: pickFigures(each.was, each.fields),
        is: pickFigures(each.is, each.fields),
      };
    }),
    next,
    searchedBackTo,
  };
}

type Fields = Record<string, unknown>;

function toFields(value: unknown): Fields {
  return (value ?? {}) as Fields;
}

function getChangedFields(was: Fields, is: Fields): (keyof OfferFigures)[] {
  return offerFields.filter((field) => is[field] !== undefined && is[field] !== was[field]);
}

function pickFigures(from: Fields, fields: (keyof OfferFigures)[]): Partial<OfferFigures> {
  const known = fields.filter((field) => from[field] !== undefined);
  return Object.fromEntries(known.map((field) => [field, from[field]]));
}
