import { recordAudits, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction, type Session } from '../../database/mongo.js';
import { getSku, OfferModel, type Offer } from '../../products/offer.model.js';
import { ProductModel, type Product } from '../../products/product.model.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { getOfferFigures, getOfferId } from './plan-import.js';
import { offerFields, type OfferField, type OfferFigures } from './price-import.model.js';

/**
 * Target values of one offer. Only fields that differ between `before` and `after` are written, and
 * only if the current value equals `before`.
 */
export interface FiguresChange {
  productCode: string;
  sellerId: string;
  before: OfferFigures;
  after: OfferFigures;
  /** The code at the provider to which the figures belong. If the offer has another, nothing is written. */
  sku?: string;
  /** See `Offer`. Only for a loss that an operator has confirmed. */
  costAllowed?: number | null;
}

export interface WriteOutcome<C> {
  change: C;
  /** Values before this call. */
  was: OfferFigures;
  /** Values after this call. They equal `was` if nothing was written. */
  is: OfferFigures;
  /** Fields that have their target value, whether this call or an earlier one wrote them. */
  done: OfferField[];
  /** Fields that another actor changed meanwhile. They are not written. */
  left: OfferField[];
}

interface WriteOptions<C> {
  by: ChangedBy;
  importId: string;
  /** Action of the audit entry. */
  action: 'offer.import' | 'offer.import-undo';
  /**
   * Effect of a conflict in one field. With `offer`, nothing in the offer is written. With `field`,
   * only that field is not written.
   */
  each: 'offer' | 'field';
  /** Further writes in the same database transaction. */
  also: (session: Session, outcomes: WriteOutcome<C>[]) => Promise<void>;
}

/** Number of offers per database transaction, which then ends well within its deadline. */
const batchSize = 100;

/**
 * Writes prices, costs and statuses of many offers in batches, with an audit entry per changed
 * offer. Changes are effective in every process from the next call. Safe to repeat after an
 * interruption.
 * @returns One outcome per change, in the same order.
 */
export async function writeFigures<C extends FiguresChange>(
  changes: readonly C[],
  how: WriteOptions<C>,
): Promise<WriteOutcome<C>[]> {
  const outcomes: WriteOutcome<C>[] = [];
  for (const some of splitIntoChunks(changes, batchSize)) {
    outcomes.push(...(await writeBatch(some, how)));
  }
  return outcomes;
}

/** True if this call changed the offer. */
export function isWritten({ was, is }: Pick<WriteOutcome<unknown>, 'was' | 'is'>): boolean {
  return getChangedFields(was, is).length > 0;
}

/** Returns the fields whose values differ. */
export function getChangedFields(a: OfferFigures, b: OfferFigures): OfferField[] {
  return offerFields.filter((field) => a[field] !== b[field]);
}

function writeBatch<C extends FiguresChange>(
  changes: C[],
  { by, importId, action, each, also }: WriteOptions<C>,
): Promise<WriteOutcome<C>[]> {
  const codes = [...new Set(changes.map(({ productCode }) => productCode))];
  return writeAndInvalidate([ProductModel, OfferModel], codes, (products, offers) =>
    runInTransaction(async (session) => {
      const found = await products
        .find({ _id: { $in: codes } }, { sellerId: 1, status: 1 })
        .session(session)
        .lean<Product[]>();
      const productOf = new Map(found.map((product) => [product._id, product]));
      const offered = await offers
        .find({ _id: { $in: changes.map(getChangeOfferId) } })
        .session(session)
        .lean<Offer[]>();
      const offerOf = new Map(offered.map((offer) => [offer._id, offer]));
      const ownedBy = ({ productCode, sellerId }: C) => {
        const product = productOf.get(productCode);
        return product?.sellerId === sellerId ? product : null;
      };
      const outcomes = changes.map((change) => {
        const offer = offerOf.get(getChangeOfferId(change));
        const isSame = offer && (change.sku === undefined || change.sku === getSku(offer));
        return buildOutcome(change, isSame ? getOfferFigures(offer, ownedBy(change)) : null, each);
      });
      const written = outcomes.filter(isWritten);
      const sets = written.map((outcome) => buildUpdates(outcome, ownedBy(outcome.change) !== null));
      const ofOffers = sets.flatMap(({ offer }) => offer ?? []);
      const ofProducts = sets.flatMap(({ product }) => product ?? []);
      if (ofOffers.length > 0) {
        await offers.bulkWrite(ofOffers, { session });
      }
      if (ofProducts.length > 0) {
        await products.bulkWrite(ofProducts, { session });
      }
      await recordAudits(
        session,
        written.map(({ change: { productCode, sellerId }, was, is }) => ({
          ...by,
          action,
          subject: { kind: 'product', id: productCode },
          before: { sellerId, ...was },
          after: { sellerId, ...is, importId },
        })),
      );
      await also(session, outcomes);
      return outcomes;
    }),
  );
}

function getChangeOfferId({ productCode, sellerId }: FiguresChange): string {
  return getOfferId(productCode, sellerId);
}

/** @param now The current values of the offer. Null if the offer no longer exists. */
function buildOutcome<C extends FiguresChange>(
  change: C,
  now: OfferFigures | null,
  each: WriteOptions<C>['each'],
): WriteOutcome<C> {
  const { before, after } = change;
  const fields = getChangedFields(before, after);
  if (!now) {
    return { change, was: before, is: before, done: [], left: fields };
  }
  const left = fields.filter((field) => now[field] !== before[field] && now[field] !== after[field]);
  const done = each === 'offer' && left.length > 0 ? [] : fields.filter((field) => !left.includes(field));
  const set = Object.fromEntries(done.map((field) => [field, after[field]])) as Partial<OfferFigures>;
  return { change, was: now, is: { ...now, ...set }, done, left };
}

interface UpdateOne {
  updateOne: {
    filter: { _id: string };
    update: { $set: Partial<OfferFigures> & { costAllowed?: number | null } };
  };
}

/** Builds the updates of one offer. The status of the owner's offer is written to the product. */
function buildUpdates<C extends FiguresChange>(
  { change, was, is }: WriteOutcome<C>,
  isOwned: boolean,
): { offer: UpdateOne | null; product: UpdateOne | null } {
  const changed = getChangedFields(was, is);
  const { costAllowed = null } = change;
  const update = (_id: string, fields: OfferField[]): UpdateOne | null =>
    fields.length === 0
      ? null
      : {
          updateOne: {
            filter: { _id },
            update: {
              $set: {
                ...Object.fromEntries(fields.map((field) => [field, is[field]])),
                ...(fields.some((field) => field !== 'status') && { costAllowed }),
              },
            },
          },
        };
  const ofProduct = changed.filter((field) => isOwned && field === 'status');
  return {
    offer: update(
      getChangeOfferId(change),
      changed.filter((field) => !ofProduct.includes(field)),
    ),
    product: update(change.productCode, ofProduct),
  };
}
