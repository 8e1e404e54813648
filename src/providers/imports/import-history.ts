import { PriceImportModel, type PriceImport, offerFields, type OfferFigures } from './price-import.model.js';
import type { AuditEntry } from '../../audit/audit.model.js';
import { findAuditPage } from '../../audit/read-audit.js';
import { findUsernames } from '../../accounts/find-account.js';
import { findCatalogueItem } from '../catalogue.js';
import { NotFoundError } from '../../shared/errors.js';
import { lookUp } from '../../shared/collections.js';
import { asWritten } from '../../shared/say.js';
import { ProductModel, type Product } from '../../products/product.model.js';

/** Imports of price lists, the newest first. @param query.after The id of the last one seen. */
export async function listImports(query: {
  after?: string | undefined;
  limit: number;
}): Promise<{ imports: PriceImport[]; next: string | null }> {
  const { after, limit } = query;
  // Ids begin with the time of their making.
  const found = await PriceImportModel.find(after === undefined ? {} : { _id: { $lt: after } })
    .sort({ _id: -1 })
    .limit(limit + 1)
    .lean<PriceImport[]>();
  const imports = found.slice(0, limit);
  return { imports, next: found.length > limit ? (imports.at(-1)?._id ?? null) : null };
}

/** What an offer was from a moment on. */
export interface OfferMoment extends Partial<OfferFigures> {
  at: Date;
  actor: string;
  action: string;
  reason: string | null;
  /** The import that set it, or took it back. */
  importId: string | null;
}

/**
 * What became of an offer's price, cost and status, the newest first, from the audit log of its product. Costs that a provider's
 * own price list has set are not in it.
 * @param page.before Entries earlier than this, as `next` of the page before says.
 * @throws NotFoundError for a product, or an offer, that does not exist.
 */
export async function readOfferHistory(
  { code, sellerId }: { code: string; sellerId: string },
  page: { before?: Date | undefined; limit: number },
): Promise<{ moments: OfferMoment[]; next: Date | null }> {
  const { offers } = await findCatalogueItem(code);
  const offer = offers.find((each) => each.sellerId === sellerId);
  if (!offer) {
    throw new NotFoundError(asWritten(`This seller has no offer for ${code}.`));
  }
  const { found, next } = await findAuditPage({ subjectKind: 'product', subjectId: code }, page);
  return { moments: found.flatMap((each) => toOfferMoment(each, offer) ?? []), next };
}

function toOfferMoment(
  { at, actor, action, reason, before, after }: AuditEntry,
  { sellerId, isOwner }: { sellerId: string; isOwner: boolean },
): OfferMoment | null {
  const was = toFields(before);
  const is = toFields(after);
  // The owner's own changes of its product name no seller.
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

/** A change of an offer, whoever sells it. */
export interface OfferChange {
  at: Date;
  actor: string;
  reason: string | null;
  code: string;
  /** Its username. */
  seller: string;
  /** What changed, as it was; a new offer was nothing. */
  was: Partial<OfferFigures>;
  is: Partial<OfferFigures>;
}

export interface OfferChanges {
  changes: OfferChange[];
  next: Date | null;
  /** How far back was looked, where the page is not full. */
  lookedBackTo: Date | null;
}

/**
 * What changed in the price list: each price, cost and status of an offer, the newest first. Costs that a provider's own price list
 * has set are not in it.
 * @param filter.since Nothing earlier. `sellerId`: of this seller's offers alone.
 * @param page As of `offerHistory`.
 */
export async function readOfferChanges(
  { since, sellerId }: { since: Date; sellerId?: string | undefined },
  page: { before?: Date | undefined; limit: number },
): Promise<OfferChanges> {
  const { found, next, lookedBackTo } = await findAuditPage({ subjectKind: 'product', since }, page);
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
  // The owner's own changes of its product name no seller.
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
    lookedBackTo,
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
