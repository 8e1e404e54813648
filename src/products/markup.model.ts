import mongoose, { Schema } from 'mongoose';
import { Money } from '../database/typed-collection.js';
import { asReadOnly } from '../database/read-only-model.js';

/** Scopes of a markup, narrowest first. Only the narrowest matching rule applies. */
export const markupScopes = ['product', 'subcategory', 'category', 'all'] as const;
export type MarkupScope = (typeof markupScopes)[number];

/**
 * An amount that buyers pay above the seller's price. The platform keeps it (decision 012). Exactly
 * one of `percentHundredths` and `rupiah` is set.
 */
export interface Markup {
  /** Owner, scope and subject, as built by `getMarkupId`. Each combination has one rule. */
  _id: string;
  /** The buyer to whom the markup applies. Null for a price group or for all buyers. */
  accountId: string | null;
  /**
   * The price group to which the markup applies. Null or absent for all buyers or for one account.
   */
  priceGroup?: string | null;
  scope: MarkupScope;
  /**
   * The product code, subcategory or category, depending on the scope. Subcategories and categories
   * are in lower case. Null if the scope is `all`.
   */
  of: string | null;
  /** Hundredths of a per cent, 0 to 10,000. An integer, so that no precision is lost. */
  percentHundredths: number | null;
  /** Fixed amount in whole rupiah. */
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

export const MarkupModel = asReadOnly<Markup>(mongoose.model('Markup', schema));

/** The buyers to whom a markup applies. */
export type MarkupOwner = Pick<Markup, 'accountId' | 'priceGroup'>;

/** The buyers and the products to which a markup applies. */
export type MarkupSubject = MarkupOwner & Pick<Markup, 'scope' | 'of'>;

/**
 * Returns the id prefix of an owner. The first character of the prefix sorts all buyers before
 * groups, and groups before accounts.
 */
export function getOwnerKey({ accountId, priceGroup = null }: MarkupOwner): string {
  return accountId ?? (priceGroup === null ? '*' : `+${priceGroup}`);
}

/**
 * Builds the id of a markup. Account ids, group names and scopes contain no spaces. The part after
 * the scope may contain spaces.
 */
export function getMarkupId({ scope, of, ...owner }: MarkupSubject): string {
  return `${getOwnerKey(owner)} ${scope}${of === null ? '' : ` ${of}`}`;
}

/** Returns the id range of an owner's markups. Both ends are exclusive. */
export function getMarkupIdRange(owner: MarkupOwner): { from: string; to: string } {
  // `!` is the character after the space.
  return { from: `${getOwnerKey(owner)} `, to: `${getOwnerKey(owner)}!` };
}

/** Id range of the markups of all price groups. */
export const groupIdRange = { from: '+', to: ',' };
