import { limits } from '../../config/limits.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { runInTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { ConflictError, NotFoundError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { getMarkupId, MarkupModel, type Markup, type MarkupSubject } from './markup.model.js';
import { ProductModel, type Product } from './product.model.js';
import { getSpellings } from './read-products.js';

/**
 * The buyers and products to which a markup applies. Without product and category, it applies to
 * all products.
 */
export interface MarkupTarget {
  /** The buyer to whom the markup applies. Null for a price group or for all buyers. */
  buyer: { _id: string; username: string; role: string } | null;
  /** The price group to which the markup applies. It matches `priceGroupPattern`. */
  priceGroup?: string | null | undefined;
  productCode?: string | undefined;
  /** `prabayar`, `pascabayar`, or a subcategory, in any case. */
  category?: string | undefined;
}

/** The amount of a markup. Exactly one of the two fields is set. */
export interface MarkupAmount {
  /** Percentage from 0 to 100, with at most two decimals. */
  percent?: number | undefined;
  /** Fixed amount in whole rupiah, 0 to `limits.markupRupiahMax`. */
  rupiah?: number | undefined;
}

/**
 * Sets a markup and replaces a rule with the same target. The markup is effective in every process
 * from the next call. Existing purchases and quoted bills keep their price.
 *
 * @throws NotFoundError for an unknown product or category.
 * @throws ValidationError for a seller's account or an invalid amount.
 * @throws ConflictError if there are already `limits.markupsMax` markups.
 */
export async function setMarkup(target: MarkupTarget, amount: MarkupAmount, by: ChangedBy): Promise<Markup> {
  const subject = buildMarkupSubject(target);
  await refuseUnknown(target, subject);
  const set = { ...subject, ...toStoredAmount(amount) };
  const _id = getMarkupId(subject);
  return writeAndInvalidate([MarkupModel], null, (markups) =>
    runInTransaction(async (session) => {
      const before = await markups.findById(_id).session(session).lean<Markup>();
      if (!before && (await markups.countDocuments().session(session)) >= limits.markupsMax) {
        throw new ConflictError(
          asWritten(`There are already ${limits.markupsMax} markups, the maximum. Remove one first.`),
        );
      }
      const after = await markups
        .findOneAndUpdate({ _id }, { $set: set }, { session, upsert: true, returnDocument: 'after' })
        .orFail()
        .lean<Markup>();
      if (before?.percentHundredths !== after.percentHundredths || before.rupiah !== after.rupiah) {
        await recordAudit(session, {
          ...by,
          action: 'markup.set',
          subject: { kind: 'markup', id: _id },
          before: before && buildAuditDetails(target, before),
          after: buildAuditDetails(target, after),
        });
      }
      return after;
    }),
  );
}

/**
 * Removes a markup, effective in every process from the next call.
 * @throws NotFoundError if there is no such markup.
 */
export async function removeMarkup(target: MarkupTarget, by: ChangedBy): Promise<void> {
  const _id = getMarkupId(buildMarkupSubject(target));
  await writeAndInvalidate([MarkupModel], null, (markups) =>
    runInTransaction(async (session) => {
      const before = await markups.findOneAndDelete({ _id }).session(session).lean<Markup>();
      if (!before) {
        throw new NotFoundError(asWritten('There is no such markup.'), {
          atCommandLine: 'See them all: topup markup list',
        });
      }
      await recordAudit(session, {
        ...by,
        action: 'markup.remove',
        subject: { kind: 'markup', id: _id },
        before: buildAuditDetails(target, before),
      });
    }),
  );
}

const categories: readonly string[] = ['prabayar', 'pascabayar'] satisfies Product['category'][];

function buildMarkupSubject({
  buyer,
  priceGroup = null,
  productCode,
  category,
}: MarkupTarget): MarkupSubject {
  const owner = { accountId: buyer?._id ?? null, priceGroup };
  if (productCode !== undefined) {
    return { ...owner, scope: 'product', of: productCode };
  }
  if (category === undefined) {
    return { ...owner, scope: 'all', of: null };
  }
  const of = category.toLowerCase();
  return { ...owner, scope: categories.includes(of) ? 'category' : 'subcategory', of };
}

/**
 * Refuses an unknown product or category, because a rule that matches nothing would mislead the
 * operator.
 */
async function refuseUnknown(
  { buyer, productCode, category }: MarkupTarget,
  { scope }: MarkupSubject,
): Promise<void> {
  if (buyer && buyer.role !== 'buyer') {
    const message = asWritten(`${buyer.username} is a seller. Markups apply only to buyers`);
    throw new ValidationError([{ field: 'account', message }]);
  }
  if (productCode !== undefined && !(await ProductModel.findById(productCode))) {
    throw new NotFoundError(asWritten(`There is no product ${productCode}.`));
  }
  if (category !== undefined && scope === 'subcategory') {
    // Include the categories, because the index begins with the category.
    const named = { category: { $in: categories }, subcategory: { $in: getSpellings(category) } };
    if (!(await ProductModel.findOne(named as object))) {
      throw new NotFoundError(asWritten(`No product has the category ${category}.`));
    }
  }
}

function toStoredAmount({ percent, rupiah }: MarkupAmount): Pick<Markup, 'percentHundredths' | 'rupiah'> {
  const percentHundredths = percent === undefined ? null : Math.round(percent * 100);
  const isWhole = percent === undefined || Math.abs(percent * 100 - (percentHundredths ?? 0)) < 1e-6;
  const isWithin =
    (percentHundredths ?? 0) >= 0 &&
    (percentHundredths ?? 0) <= 10_000 &&
    Number.isSafeInteger(rupiah ?? 0) &&
    (rupiah ?? 0) >= 0 &&
    (rupiah ?? 0) <= limits.markupRupiahMax;
  if ((percent === undefined) === (rupiah === undefined) || !isWhole || !isWithin) {
    const message = asWritten(
      `Give either percent (0 to 100, two decimals) or rupiah (whole, at most ${limits.markupRupiahMax})`,
    );
    throw new ValidationError([{ field: percent === undefined ? 'rupiah' : 'percent', message }]);
  }
  return { percentHundredths, rupiah: rupiah ?? null };
}

/** Formats a markup for the audit log. */
function buildAuditDetails(
  { buyer, priceGroup = null }: MarkupTarget,
  { scope, of, percentHundredths, rupiah }: Markup,
) {
  return {
    account: buyer?.username ?? null,
    group: priceGroup,
    scope,
    of,
    percent: percentHundredths === null ? null : percentHundredths / 100,
    rupiah,
  };
}
