import mongoose, { Schema } from 'mongoose';
import { Money } from '../database/typed-collection.js';
import { readOnly } from '../database/read-only-model.js';

/** Scopes of a markup, narrowest first. The narrowest matching rule applies alone. */
export const markupScopes = ['product', 'subcategory', 'category', 'all'] as const;
export type MarkupScope = (typeof markupScopes)[number];

/**
 * An amount that buyers pay above the seller's price, and the platform keeps (decision 012).
 * Exactly one of `percentHundredths` and `rupiah` is set.
 */
export interface Markup {
  /** Owner, scope and subject; see `getMarkupId`. There is one rule for each. */
  _id: string;
  /** The buyer that it applies to; null: a price group or all buyers. */
  accountId: string | null;
  /** The price group that it applies to. Null or absent: all buyers, or the one account. */
  priceGroup?: string | null;
  scope: MarkupScope;
  /** A product code, or a subcategory or category in lower case. Null if the scope is `all`. */
  of: string | null;
  /** Hundredths of a per cent, 0 to 10,000. Whole, so that no precision is lost. */
  percentHundredths: number | null;
  /** Whole rupiah. */
  rupiah: number | null;
  createdAt: Date;
  updatedAt: Date;
}

const schema = new Schema<Markup>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, default: null },
    priceGroup: { type: String, default: null },
    scope: { type: String, required: true, enum: markupScopes },
    of: { type: String, default: null },
    percentHundredths: { type: Number, default: null },
    rupiah: { type: Money, default: null },
  },
  { collection: 'markups', timestamps: true, versionKey: false },
);

export const MarkupModel = readOnly<Markup>(mongoose.model('Markup', schema));

/** The buyers that a markup applies to. */
export type MarkupOwner = Pick<Markup, 'accountId' | 'priceGroup'>;

/** The buyers and the products that a markup applies to. */
export type MarkupSubject = MarkupOwner & Pick<Markup, 'scope' | 'of'>;

/**
 * Returns the id prefix of an owner. Its first character sorts all buyers before groups, and groups
 * before accounts.
 */
export function getOwnerKey({ accountId, priceGroup = null }: MarkupOwner): string {
  return accountId ?? (priceGroup === null ? '*' : `+${priceGroup}`);
}

/**
 * Builds the id of a markup. Account ids, group names and scopes contain no spaces; the part after
 * the scope may.
 */
export function getMarkupId({ scope, of, ...owner }: MarkupSubject): string {
  return `${getOwnerKey(owner)} ${scope}${of === null ? '' : ` ${of}`}`;
}

/** Returns the id range of an owner's markups; both ends are exclusive. */
export function getMarkupIdRange(owner: MarkupOwner): { from: string; to: string } {
  // `!` is the character after the space.
  return { from: `${getOwnerKey(owner)} `, to: `${getOwnerKey(owner)}!` };
}

/** Id range of the markups of all price groups. */
export const groupIdRange = { from: '+', to: ',' };
